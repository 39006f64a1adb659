/* SPDX-License-Identifier: MIT */
/*
 * One mapping holds everything: the image, then the structs that calls go through, and a stack. Of a program that is
 * about to begin, what is constant of the image is then mapped from our own file, if that can be. The agent gives its
 * segments the access that they want; only where the system allows no memory that can be written and executed we do.
 */
#include "inject/agent_load.h"

#include "arch/abi.h"
#include "arch/thread_landing.h"
#include "base/alignment.h"
#include "base/memory_map.h"
#include "elf/image.h"
#include "elf/symbols.h"
#include "hosted/error_text.h"
#include "inject/agent_file.h"
#include "protocol/agent_call.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define STACK_BYTES (128u << 10)

/* The agent's memory, as distances from its start. */
struct agent_layout {
    struct elf_image image;
    uint64_t landing, call, vector_state, stack_end, size_bytes;
};

static int plan(struct agent_layout *layout)
{
    uint64_t page = memory_page_size();
    int result = elf_image_parse(agent_image, (size_t)(agent_image_end - agent_image), abi_host()->elf, &layout->image);

    if (result == 0)
        result = elf_image_check_self_contained(&layout->image);
    if (result != 0)
        return result;
    layout->landing = align_up(elf_image_span(&layout->image), page);
    layout->call = align_up(layout->landing + sizeof(struct thread_landing), 64);
    layout->vector_state = align_up(layout->call + sizeof(struct agent_call), 64);
    layout->stack_end = align_up(layout->vector_state + thread_landing_vector_bytes(), page) + STACK_BYTES;
    layout->size_bytes = layout->stack_end;
    return 0;
}

/* Where a function of the image is when the image is at `start`. */
static int find(const struct agent_layout *layout, const char *name, uint64_t start, uint64_t *address_out)
{
    struct elf_symbols symbols;
    struct elf_symbol symbol;
    int result = elf_symbols_parse(layout->image.bytes, layout->image.size_bytes, &symbols);

    if (result == 0)
        result = elf_symbols_find(&symbols, name, &symbol);
    if (result == 0)
        *address_out = start + symbol.address - layout->image.low;
    return result;
}

/* What will be written by the agent, and is relocated: all between the first and the last of such segments. */
static struct elf_part writable_part(const struct elf_image *image)
{
    struct elf_part part = {0};

    for (size_t i = 0; i < image->segment_count; i++) {
        const struct elf_segment *segment = &image->segments[i];

        if ((segment->access & MEMORY_WRITE) == 0)
            continue;
        if (part.address == 0)
            part.address = segment->address;
        part.size_bytes = segment->address + segment->file_bytes - part.address;
    }
    return part;
}

/* How much can be mapped: all pages before those of variables, if constants lie there as they do in the file; or 0. */
static uint64_t mapped_bytes(const struct elf_image *image)
{
    uint64_t variables = writable_part(image).address - image->low;
    uint64_t size_bytes = variables - variables % memory_page_size();

    for (size_t i = 0; i < image->segment_count; i++) {
        const struct elf_segment *segment = &image->segments[i];
        uint64_t start = segment->address - image->low;

        if ((segment->access & MEMORY_WRITE) == 0 &&
            (segment->file_offset != start || start + segment->file_bytes > size_bytes))
            return 0;
    }
    return size_bytes;
}

static int copy_constants(struct tracee *tracee, const struct elf_image *image, uint64_t start)
{
    for (size_t i = 0; i < image->segment_count; i++) {
        const struct elf_segment *segment = &image->segments[i];
        int result = 0;

        if ((segment->access & MEMORY_WRITE) == 0)
            result = process_memory_write(tracee->pid, start + segment->address - image->low,
                                          image->bytes + segment->file_offset, segment->file_bytes);
        if (result != 0)
            return result;
    }
    return 0;
}

/* A process that has begun may have forbidden itself what is needed to map a file. */
static int put_constants(struct tracee *tracee, const struct remote_place *place, const struct elf_image *image,
                         bool may_execute, struct remote_agent *agent)
{
    uint64_t size_bytes = mapped_bytes(image);

    agent->file_fd = tracee->file_fd - 1;
    if (tracee->is_fresh && may_execute && size_bytes != 0 &&
        agent_file_map(tracee, place, agent->start, size_bytes, &agent->file_fd) == 0)
        return 0;
    return copy_constants(tracee, image, agent->start);
}

static int write_variables(struct tracee *tracee, const struct elf_image *image, uint64_t start)
{
    struct elf_part part = writable_part(image);
    int result;

    part.memory = malloc(part.size_bytes);
    if (part.memory == NULL)
        return -ENOMEM;
    elf_image_copy(image, &part);
    result = elf_image_relocate(image, &part, start);
    if (result == 0)
        result = process_memory_write(tracee->pid, start + part.address - image->low, part.memory, part.size_bytes);
    free(part.memory);
    return result;
}

static int system_call(struct tracee *tracee, const struct remote_place *place, long number, const long arguments[6],
                       long *answer_out)
{
    int result = remote_system_call(tracee, place, number, arguments, answer_out);

    if (result == 0 && *answer_out < 0 && *answer_out > -4096)
        result = (int)*answer_out;
    return result;
}

/* What access each part of the image wants. */
static void list_segments(const struct agent_layout *layout, struct remote_agent *agent)
{
    uint64_t page = memory_page_size();

    agent->segment_count = 0;
    for (size_t i = 0; i < layout->image.segment_count && agent->segment_count < AGENT_SEGMENTS_MAX; i++) {
        const struct elf_segment *segment = &layout->image.segments[i];
        uint64_t from = agent->start + (segment->address - layout->image.low) / page * page;
        uint64_t to = align_up(agent->start + segment->address - layout->image.low + segment->memory_bytes, page);

        agent->segments[agent->segment_count++] =
            (struct agent_segment){.start = from, .size_bytes = to - from, .access = segment->access};
    }
}

/* For systems that want code to be written before it may be executed. */
static int protect_image(struct tracee *tracee, const struct remote_place *place, struct remote_agent *agent)
{
    for (uint32_t i = 0; i < agent->segment_count; i++) {
        const struct agent_segment *segment = &agent->segments[i];
        long arguments[6] = {(long)segment->start, (long)segment->size_bytes, (long)segment->access};
        long answer;
        int result = system_call(tracee, place, SYS_mprotect, arguments, &answer);

        if (result != 0)
            return result;
    }
    agent->segment_count = 0;
    return 0;
}

/* The fewer system calls the better: with all access at once, it is this one. */
static int map(struct tracee *tracee, const struct remote_place *place, uint64_t size_bytes, bool *may_execute_out,
               long *start_out)
{
    long arguments[6] = {0, (long)size_bytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0};
    int result = system_call(tracee, place, SYS_mmap, arguments, start_out);

    *may_execute_out = result == 0;
    if (result != -EACCES && result != -EPERM)
        return result;
    arguments[2] = PROT_READ | PROT_WRITE;
    return system_call(tracee, place, SYS_mmap, arguments, start_out);
}

/* An agent of that layout, at `start`. */
static int describe(const struct agent_layout *layout, uint64_t start, struct remote_agent *agent_out)
{
    int result;

    *agent_out = (struct remote_agent){
        .file_fd = -1,
        .start = start,
        .size_bytes = layout->size_bytes,
        .landing = start + layout->landing,
        .call = start + layout->call,
        .stack_end = start + layout->stack_end,
        .vector_state = start + layout->vector_state,
    };
    result = find(layout, "agent_main", start, &agent_out->main);
    return result == 0 ? find(layout, THREAD_LANDING_ROUTINE, start, &agent_out->routine) : result;
}

static int load(struct tracee *tracee, struct remote_agent *agent)
{
    struct remote_place place = {0};
    struct agent_layout layout;
    bool may_execute = false;
    long start;
    int result = plan(&layout);

    if (result == 0)
        result = remote_find_first_system_call(tracee, &place);
    if (result == 0)
        result = map(tracee, &place, layout.size_bytes, &may_execute, &start);
    if (result != 0)
        return result;
    result = describe(&layout, (uint64_t)start, agent);
    list_segments(&layout, agent);
    if (result == 0)
        result = put_constants(tracee, &place, &layout.image, may_execute, agent);
    /* Behind it the memory is new, and zero. */
    if (result == 0)
        result = write_variables(tracee, &layout.image, agent->start);
    return result == 0 && !may_execute ? protect_image(tracee, &place, agent) : result;
}

int agent_load(struct tracee *tracee, struct remote_agent *agent_out, struct gait_error *err)
{
    int result = load(tracee, agent_out);

    if (result == 0)
        return 0;
    return error_set(err, result, "cannot put the agent into process %d: %s", (int)tracee->pid,
                     result == -ENOENT ? "it has no code that makes system calls" : strerror(-result));
}

/* ---- one that is there ------------------------------------------------------------------------------------------- */

static bool has_bytes(pid_t pid, uint64_t address, const uint8_t *bytes, uint64_t size_bytes)
{
    uint8_t there[4096];
    uint64_t part;

    for (uint64_t done = 0; done < size_bytes; done += part) {
        part = size_bytes - done < sizeof(there) ? size_bytes - done : sizeof(there);
        if (process_memory_read(pid, address + done, there, part) != 0 || memcmp(there, bytes + done, part) != 0)
            return false;
    }
    return true;
}

/* Whether all that is constant of the image is there. */
static bool is_at(pid_t pid, const struct elf_image *image, uint64_t start)
{
    for (size_t i = 0; i < image->segment_count; i++) {
        const struct elf_segment *segment = &image->segments[i];

        if ((segment->access & MEMORY_WRITE) == 0 &&
            !has_bytes(pid, start + segment->address - image->low, image->bytes + segment->file_offset,
                       segment->file_bytes))
            return false;
    }
    return true;
}

/*
 * Where a mapping begins in which it may be: of no file, or of ours, and not to be written. Others are not read:
 * whoever reads memory may have to wait for it.
 */
static bool may_have_agent(const char *line, uint64_t own_file, uint64_t *start_out)
{
    uint64_t inode;
    char access[8];

    return sscanf(line, "%" SCNx64 "-%*x %7s %*s %*s %" SCNu64, start_out, access, &inode) == 3 && access[0] == 'r' &&
           access[1] == '-' && access[3] == 'p' && (inode == 0 || inode == own_file) && strchr(line, '[') == NULL;
}

int agent_load_find(pid_t pid, struct remote_agent *agent_out)
{
    char path[64], line[4096 + 256];
    struct agent_layout layout;
    struct stat own = {.st_ino = 0};
    uint64_t start = 0;
    int result = plan(&layout);
    bool is_found = false;
    FILE *file;

    if (result != 0)
        return result;
    (void)stat("/proc/self/exe", &own);
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    file = fopen(path, "re");
    while (file != NULL && !is_found && fgets(line, sizeof(line), file) != NULL)
        is_found = may_have_agent(line, own.st_ino, &start) && is_at(pid, &layout.image, start);
    if (file != NULL)
        fclose(file);
    return is_found ? describe(&layout, start, agent_out) : -ENOENT;
}

int agent_unload(struct tracee *tracee, const struct remote_agent *agent, struct gait_error *err)
{
    long arguments[6] = {(long)agent->start, (long)agent->size_bytes}, answer;
    struct memory_range own = {agent->start, agent->start + agent->size_bytes};
    struct remote_place place = {0};
    int result = remote_find_system_call(tracee->pid, own, &place);

    if (result == 0)
        result = system_call(tracee, &place, SYS_munmap, arguments, &answer);
    if (result == 0)
        return 0;
    return error_set(err, result, "cannot take the agent's memory away from process %d: %s", (int)tracee->pid,
                     strerror(-result));
}

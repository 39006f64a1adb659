/* SPDX-License-Identifier: MIT */
/*
 * One mapping holds everything: the image, then the structs that calls go through, and a stack. It is written while it
 * can only be read and written; then the image's segments get the access that they want.
 */
#define _GNU_SOURCE
#include "inject/agent_load.h"

#include "arch/thread_landing.h"
#include "base/memory_map.h"
#include "elf/image.h"
#include "elf/symbols.h"
#include "libgait/error.h"
#include "protocol/agent_call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define STACK_BYTES (128u << 10)

extern const uint8_t agent_image[], agent_image_end[];

/* The agent's memory, as distances from its start. */
struct layout {
    struct elf_image image;
    uint64_t landing, call, vector_state, stack_end, size_bytes;
};

static uint64_t round_up(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) & ~(alignment - 1);
}

static int plan(struct layout *layout)
{
    uint64_t page = memory_page_size();
    int result = elf_image_parse(agent_image, (size_t)(agent_image_end - agent_image), &layout->image);

    if (result == 0)
        result = elf_image_check_self_contained(&layout->image);
    if (result != 0)
        return result;
    layout->landing = round_up(elf_image_span(&layout->image), page);
    layout->call = round_up(layout->landing + sizeof(struct thread_landing), 64);
    layout->vector_state = round_up(layout->call + sizeof(struct agent_call), 64);
    layout->stack_end = round_up(layout->vector_state + thread_landing_vector_bytes(), page) + STACK_BYTES;
    layout->size_bytes = layout->stack_end;
    return 0;
}

/* Where a function of the image is when the image is at `start`. */
static int find(const struct layout *layout, const char *name, uint64_t start, uint64_t *address_out)
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

static int write_image(struct tracee *tracee, const struct layout *layout, uint64_t start)
{
    size_t span = (size_t)elf_image_span(&layout->image);
    uint8_t *copy = calloc(1, span);
    int result;

    if (copy == NULL)
        return -ENOMEM;
    elf_image_copy(&layout->image, copy);
    result = elf_image_relocate(&layout->image, copy, start);
    if (result == 0)
        result = process_memory_write(tracee->pid, start, copy, span);
    free(copy);
    return result;
}

static int system_call(struct tracee *tracee, uint64_t place, long number, const long arguments[6], long *answer_out)
{
    int result = remote_system_call(tracee, place, number, arguments, answer_out);

    if (result == 0 && *answer_out < 0 && *answer_out > -4096)
        result = (int)*answer_out;
    return result;
}

static int protect_image(struct tracee *tracee, uint64_t place, const struct layout *layout, uint64_t start)
{
    uint64_t page = memory_page_size();

    for (size_t i = 0; i < layout->image.segment_count; i++) {
        const struct elf_segment *segment = &layout->image.segments[i];
        uint64_t from = start + (segment->address - layout->image.low) / page * page;
        uint64_t to = round_up(start + segment->address - layout->image.low + segment->memory_bytes, page);
        long arguments[6] = {(long)from, (long)(to - from), (long)segment->access}, answer;
        int result;

        if (segment->access == MEMORY_READ_WRITE)
            continue;
        result = system_call(tracee, place, SYS_mprotect, arguments, &answer);
        if (result != 0)
            return result;
    }
    return 0;
}

static int load(struct tracee *tracee, struct remote_agent *agent)
{
    struct layout layout;
    uint64_t place = 0;
    long start;
    int result = plan(&layout);

    if (result == 0)
        result = remote_find_system_call(tracee->pid, &place);
    if (result != 0)
        return result;

    long arguments[6] = {0, (long)layout.size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0};

    result = system_call(tracee, place, SYS_mmap, arguments, &start);
    if (result != 0)
        return result;
    *agent = (struct remote_agent){
        .start = (uint64_t)start,
        .size_bytes = layout.size_bytes,
        .landing = (uint64_t)start + layout.landing,
        .call = (uint64_t)start + layout.call,
        .stack_end = (uint64_t)start + layout.stack_end,
        .vector_state = (uint64_t)start + layout.vector_state,
    };
    result = find(&layout, "agent_main", agent->start, &agent->main);
    if (result == 0)
        result = find(&layout, THREAD_LANDING_ROUTINE, agent->start, &agent->routine);
    if (result == 0)
        result = write_image(tracee, &layout, agent->start);
    return result == 0 ? protect_image(tracee, place, &layout, agent->start) : result;
}

int agent_load(struct tracee *tracee, struct remote_agent *agent_out, struct gait_error *err)
{
    int result = load(tracee, agent_out);

    if (result == 0)
        return 0;
    return error_set(err, result, "cannot put the agent into process %d: %s", (int)tracee->pid,
                     result == -ENOENT ? "it has no vdso to make system calls with" : strerror(-result));
}

int agent_close_fd(struct tracee *tracee, int fd, struct gait_error *err)
{
    long arguments[6] = {fd}, answer;
    uint64_t place = 0;
    int result = remote_find_system_call(tracee->pid, &place);

    if (result == 0)
        result = system_call(tracee, place, SYS_close, arguments, &answer);
    if (result == 0)
        return 0;
    return error_set(err, result, "cannot close a descriptor of process %d: %s", (int)tracee->pid, strerror(-result));
}

int agent_unload(struct tracee *tracee, const struct remote_agent *agent, struct gait_error *err)
{
    long arguments[6] = {(long)agent->start, (long)agent->size_bytes}, answer;
    uint64_t place = 0;
    int result = remote_find_system_call(tracee->pid, &place);

    if (result == 0)
        result = system_call(tracee, place, SYS_munmap, arguments, &answer);
    if (result == 0)
        return 0;
    return error_set(err, result, "cannot take the agent's memory away from process %d: %s", (int)tracee->pid,
                     strerror(-result));
}

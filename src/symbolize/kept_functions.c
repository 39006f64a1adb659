/* SPDX-License-Identifier: MIT */
/*
 * Symbols are sorted by address, and what can never be found is left out: of names for the same address those that are
 * not better and cover no more. So a search finds the same in these as in the file.
 */
#include "symbolize/kept_functions.h"

#include "elf/build_id.h"
#include "elf/sections.h"
#include "symbolize/debug_file.h"
#include "symbolize/stub_names.h"
#include "trace/crc32c.h"
#include "trace/kept_names.h"
#include "trace/modules.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX  (4ll << 30)
#define STUB_NAME_BYTES 4096
#define SEGMENTS_MAX    256u

static const char gone[] = "is gone", unreadable[] = "may not be read", foreign[] = "is no program or library",
                  changed[] = "has changed since", too_large[] = "is too large for the memory";

struct candidate {
    struct elf_symbol symbol;
    uint64_t which; /* in the order in which they came */
    bool is_stub;
    bool is_hidden; /* by a better one */
};

struct function_gathering {
    const struct recorded_module *module;
    int fd;
    struct stat status;
    struct symbol_file file;
    struct debug_file debug;
    struct stub_names stubs;
    struct candidate *candidates;
    size_t count;
    struct kept_names names;
};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Brings a section into memory that symbol_file_open has left out. What cannot be read stays zeroes. */
static void fill(const struct function_gathering *gathering, const struct elf_section *section)
{
    uint64_t offset = section->file_offset, end = offset + section->size_bytes;

    if (end < offset || end > gathering->file.size_bytes)
        return;
    while (offset < end) {
        ssize_t got = pread(gathering->fd, (uint8_t *)gathering->file.memory + offset, end - offset, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return;
        offset += (uint64_t)got;
    }
}

/* Those that symbols are found by, besides the tables. */
static void fill_sections(const struct function_gathering *gathering)
{
    const struct elf_symbols *symbols = &gathering->file.symbols;
    struct elf_section section;

    for (unsigned i = 0; elf_section_get(symbols, i, &section) == 0; i++)
        if (section.type == SHT_RELA ||
            (section.type == SHT_PROGBITS &&
             (strncmp(section.name, ".gnu_debug", strlen(".gnu_debug")) == 0 || strncmp(section.name, ".plt", 4) == 0)))
            fill(gathering, &section);
}

static const char *sum_up(struct function_gathering *gathering, uint32_t *crc_out)
{
    uint64_t size_bytes;
    int result = file_sum_read(gathering->fd, &size_bytes, crc_out);

    if (result != 0)
        return result == -ENOMEM ? too_large : unreadable;
    return size_bytes == (uint64_t)gathering->status.st_size ? NULL : changed;
}

static bool is_as_recorded(const struct elf_symbols *symbols, const struct recorded_module *module)
{
    const uint8_t *build_id;
    size_t size_bytes;

    return elf_build_id_find(symbols, &build_id, &size_bytes) == 0 && size_bytes == module->build_id_bytes &&
           memcmp(build_id, module->build_id, size_bytes) == 0;
}

/* Whether what was read by its path is what is open. */
static bool is_still_there(const struct function_gathering *gathering)
{
    struct stat now;

    return stat(gathering->module->path, &now) == 0 && now.st_ino == gathering->status.st_ino &&
           now.st_dev == gathering->status.st_dev && now.st_size == gathering->status.st_size &&
           now.st_mtim.tv_sec == gathering->status.st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == gathering->status.st_mtim.tv_nsec;
}

/* What the kernel puts into each process is in no file, but ours is the same if the kernel is. */
static const char *open_own_vdso(struct function_gathering *gathering)
{
    const uint8_t *image = (const uint8_t *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
    Elf64_Ehdr header;

    if (image == NULL || gathering->module->build_id_bytes == 0)
        return gone;
    memcpy(&header, image, sizeof(header));
    /* Its section headers are last. */
    gathering->status.st_size = (off_t)(header.e_shoff + (uint64_t)header.e_shnum * sizeof(Elf64_Shdr));
    if (elf_symbols_parse(image, (size_t)gathering->status.st_size, &gathering->file.symbols) != 0)
        return gone;
    return is_as_recorded(&gathering->file.symbols, gathering->module) ? NULL : gone;
}

static const char *open_file(struct function_gathering *gathering)
{
    int result;

    if (strcmp(gathering->module->path, "[vdso]") == 0)
        return open_own_vdso(gathering);
    if (gathering->module->path[0] != '/')
        return gone;
    gathering->fd = open(gathering->module->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (gathering->fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? gone : unreadable;
    if (fstat(gathering->fd, &gathering->status) != 0 || !S_ISREG(gathering->status.st_mode) ||
        gathering->status.st_size == 0 || gathering->status.st_size > FILE_BYTES_MAX)
        return foreign;
    result = symbol_file_open(gathering->module->path, &gathering->file);
    if (result != 0)
        return result == -ENOMEM ? too_large : result == -ENOEXEC ? foreign : unreadable;
    if (gathering->module->build_id_bytes != 0 && !is_as_recorded(&gathering->file.symbols, gathering->module))
        return changed;
    fill_sections(gathering);
    return is_still_there(gathering) ? NULL : changed;
}

/* ---- what the file is -------------------------------------------------------------------------------------------- */

static bool read_segment(const struct elf_symbols *symbols, uint64_t which, Elf64_Phdr *segment_out)
{
    uint64_t offset = symbols->program_headers + which * sizeof(*segment_out);

    if (which >= symbols->program_header_count || offset > symbols->size_bytes ||
        symbols->size_bytes - offset < sizeof(*segment_out))
        return false;
    memcpy(segment_out, symbols->bytes + offset, sizeof(*segment_out));
    return true;
}

static const char *note_segments(struct function_gathering *gathering)
{
    struct trace_names *file = &gathering->names.file;
    Elf64_Phdr segment;

    gathering->names.segments = calloc(SEGMENTS_MAX, sizeof(*gathering->names.segments));
    if (gathering->names.segments == NULL)
        return too_large;
    for (uint64_t i = 0; read_segment(&gathering->file.symbols, i, &segment) && file->segment_count < SEGMENTS_MAX; i++)
        if (segment.p_type == PT_LOAD && segment.p_flags & PF_X)
            gathering->names.segments[file->segment_count++] =
                (struct trace_segment){segment.p_offset, segment.p_vaddr, segment.p_filesz};
    return NULL;
}

static const char *note_file(struct function_gathering *gathering)
{
    const struct recorded_module *module = gathering->module;
    struct trace_names *file = &gathering->names.file;

    file->machine = gathering->file.symbols.machine;
    file->file_bytes = (uint64_t)gathering->status.st_size;
    file->build_id_bytes = module->build_id_bytes;
    memcpy(file->build_id, module->build_id, sizeof(file->build_id));
    gathering->names.path = strdup(module->path);
    if (gathering->names.path == NULL)
        return too_large;
    return module->build_id_bytes != 0 ? NULL : sum_up(gathering, &file->file_crc);
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static bool is_code(const struct function_gathering *gathering, uint64_t address)
{
    for (uint32_t i = 0; i < gathering->names.file.segment_count; i++)
        if (address - gathering->names.segments[i].address < gathering->names.segments[i].size_bytes)
            return true;
    return false;
}

static void take_symbols(struct function_gathering *gathering, const struct elf_symbols *symbols)
{
    struct elf_symbol symbol;

    for (uint64_t i = 0; i < elf_symbols_count(symbols); i++)
        if (elf_symbols_peek(symbols, i, &symbol) == 0 && is_code(gathering, symbol.address)) {
            gathering->candidates[gathering->count] = (struct candidate){.symbol = symbol, .which = gathering->count};
            gathering->count++;
        }
}

static int open_debug(struct function_gathering *gathering)
{
    const char *folders = getenv("GAIT_DEBUG_PATH");
    int result;

    if (folders == NULL)
        folders = DEBUG_FILE_FOLDERS;
    result = debug_file_open_named(&gathering->file.symbols, gathering->module->path, folders, &gathering->debug);
    return result == 0 ? 0 : debug_file_open(&gathering->file.symbols, folders, &gathering->debug);
}

static const char *take_candidates(struct function_gathering *gathering)
{
    const struct elf_symbols *symbols = &gathering->file.symbols;
    uint64_t most = elf_symbols_count(symbols);

    /* As module_symbols.c does: what was taken out of a file is better than what is left. */
    if (symbols->tables[0].count == 0 && open_debug(gathering) == 0)
        most += elf_symbols_count(&gathering->debug.symbols);
    if (stub_names_make(&gathering->stubs, symbols) != 0)
        return too_large;
    most += gathering->stubs.count;
    gathering->candidates = calloc(most + 1, sizeof(*gathering->candidates));
    if (gathering->candidates == NULL)
        return too_large;
    if (gathering->debug.symbols.bytes != NULL)
        take_symbols(gathering, &gathering->debug.symbols);
    take_symbols(gathering, symbols);
    for (size_t i = 0; i < gathering->stubs.count; i++) {
        const struct named_stub *stub = &gathering->stubs.stubs[i];

        gathering->candidates[gathering->count] = (struct candidate){
            .symbol = {.address = stub->address,
                       .size_bytes = stub->size_bytes,
                       .name = stub->name,
                       .name_length = stub->name_length,
                       .is_function = true},
            .which = gathering->count,
            .is_stub = true,
        };
        gathering->count++;
    }
    return NULL;
}

static int compare(const void *left_candidate, const void *right_candidate)
{
    const struct candidate *first = left_candidate, *second = right_candidate;
    int result = elf_symbol_compare(&first->symbol, &second->symbol);

    /* Of names that are as good, the first one in the file. */
    return result != 0 ? result : first->which > second->which ? -1 : 1;
}

/* Whoever comes later at the same address is found first. */
static void hide_others(struct function_gathering *gathering)
{
    uint64_t size_bytes = 0;

    for (size_t i = gathering->count; i-- > 0;) {
        struct candidate *candidate = &gathering->candidates[i];
        bool is_last =
            i + 1 == gathering->count || gathering->candidates[i + 1].symbol.address != candidate->symbol.address;

        candidate->is_hidden = !is_last && candidate->symbol.size_bytes <= size_bytes;
        if (is_last || candidate->symbol.size_bytes > size_bytes)
            size_bytes = candidate->symbol.size_bytes;
    }
}

static int add(struct kept_names *names, const struct candidate *candidate)
{
    const struct elf_symbol *symbol = &candidate->symbol;
    char stub[STUB_NAME_BYTES];
    int length;

    if (!candidate->is_stub)
        return kept_names_add(names, symbol->address, symbol->size_bytes, symbol->name, symbol->name_length);
    length = snprintf(stub, sizeof(stub), "%.*s@plt",
                      symbol->name_length > STUB_NAME_BYTES - 8 ? STUB_NAME_BYTES - 8 : (int)symbol->name_length,
                      symbol->name);
    return kept_names_add(names, symbol->address, symbol->size_bytes, stub, (size_t)length);
}

static const char *note_functions(struct function_gathering *gathering)
{
    const char *problem = take_candidates(gathering);

    if (problem != NULL)
        return problem;
    qsort(gathering->candidates, gathering->count, sizeof(*gathering->candidates), compare);
    hide_others(gathering);
    for (size_t i = 0; i < gathering->count; i++)
        if (!gathering->candidates[i].is_hidden && add(&gathering->names, &gathering->candidates[i]) != 0)
            return too_large;
    return NULL;
}

static void release(struct function_gathering *gathering)
{
    free(gathering->candidates);
    stub_names_deinit(&gathering->stubs);
    debug_file_close(&gathering->debug);
    if (gathering->file.memory != NULL)
        symbol_file_close(&gathering->file);
    if (gathering->fd >= 0)
        close(gathering->fd);
}

const char *kept_functions_gather(const struct recorded_module *module, struct kept_names *names_out)
{
    struct function_gathering gathering = {.module = module, .fd = -1};
    const char *problem = open_file(&gathering);

    if (problem == NULL)
        problem = note_file(&gathering);
    if (problem == NULL)
        problem = note_segments(&gathering);
    if (problem == NULL)
        problem = note_functions(&gathering);
    release(&gathering);
    if (problem != NULL)
        kept_names_deinit(&gathering.names);
    else
        *names_out = gathering.names;
    return problem;
}

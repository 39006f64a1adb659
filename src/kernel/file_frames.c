/* SPDX-License-Identifier: MIT */
/*
 * A file is looked for below the root of the process, which may be another than ours, and by its path when the process
 * is gone. Files are told apart by device and inode: the same path may lead to several. The vdso has no file; all
 * processes have the one that we have. Of a file nothing is kept but the section and the table made of it.
 */
#define _GNU_SOURCE
#include "kernel/file_frames.h"

#include "arch/arch.h"
#include "base/text_hash.h"
#include "elf/function_list.h"
#include "elf/symbol_file.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#define SEGMENTS_MAX 16u
#define PID_FACTOR   0x9e3779b97f4a7c15u
#define VDSO_PATH    "[vdso]"

struct code_segment {
    uint64_t address; /* as in the file */
    uint64_t file_offset;
    uint64_t size_bytes;
};

struct file_frames {
    char *path; /* as the process has it */
    dev_t device;
    ino_t inode;
    bool has_table;
    struct unwind_table table;
    uint8_t *section; /* what the table points into */
    struct code_segment segments[SEGMENTS_MAX];
    size_t segment_count;
};

int known_frames_init(struct known_frames *known)
{
    *known = (struct known_frames){.count = 0};
    return hash_map_init(&known->numbers, 64);
}

static void destroy(struct file_frames *frames)
{
    if (frames->has_table)
        unwind_table_deinit(&frames->table);
    free(frames->section);
    free(frames->path);
    free(frames);
}

void known_frames_deinit(struct known_frames *known)
{
    for (size_t i = 0; i < known->count; i++)
        destroy(known->list[i]);
    free(known->list);
    hash_map_deinit(&known->numbers);
}

/* ---- reading a file ---------------------------------------------------------------------------------------------- */

/* Where code is; all of it together. */
static struct unwind_range read_segments(const struct elf_symbols *symbols, struct file_frames *frames)
{
    struct unwind_range code = {UINT64_MAX, 0};

    for (uint64_t i = 0; i < symbols->program_header_count && frames->segment_count < SEGMENTS_MAX; i++) {
        Elf64_Phdr header;

        memcpy(&header, symbols->bytes + symbols->program_headers + i * sizeof(header), sizeof(header));
        if (header.p_type != PT_LOAD || !(header.p_flags & PF_X) || header.p_filesz == 0 ||
            header.p_vaddr + header.p_filesz < header.p_vaddr)
            continue;
        frames->segments[frames->segment_count++] =
            (struct code_segment){header.p_vaddr, header.p_offset, header.p_filesz};
        code.start = header.p_vaddr < code.start ? header.p_vaddr : code.start;
        code.end = header.p_vaddr + header.p_filesz > code.end ? header.p_vaddr + header.p_filesz : code.end;
    }
    return code;
}

/* The section up to its end; what is behind it is something else. */
static int copy_section(const struct eh_frame *found, struct file_frames *frames, struct eh_frame *copy_out)
{
    size_t offset = 0, size_bytes = eh_frame_has_end(found, &offset) ? offset : found->size_bytes;

    frames->section = malloc(size_bytes == 0 ? 1 : size_bytes);
    if (frames->section == NULL)
        return -ENOMEM;
    memcpy(frames->section, found->bytes, size_bytes);
    *copy_out = (struct eh_frame){frames->section, size_bytes, found->address};
    return 0;
}

static void read_symbols(const struct elf_symbols *symbols, struct file_frames *frames)
{
    const struct arch *arch = arch_host();
    struct unwind_range code = read_segments(symbols, frames);
    struct eh_frame found, copy;

    frames->has_table = arch != NULL && symbols->machine == arch->elf_machine && code.start < code.end &&
                        elf_function_list_frame(symbols, &found) == 0 && copy_section(&found, frames, &copy) == 0 &&
                        unwind_table_make(&frames->table, &copy, code, &arch->frame_registers) == 0;
}

static void read_vdso(struct file_frames *frames)
{
    const uint8_t *bytes = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
    struct elf_symbols symbols;
    Elf64_Ehdr header;

    if (bytes == NULL)
        return;
    memcpy(&header, bytes, sizeof(header));
    /* Headers of sections are the last thing in it. */
    if (elf_symbols_parse(bytes, header.e_shoff + (size_t)header.e_shnum * header.e_shentsize, &symbols) == 0)
        read_symbols(&symbols, frames);
}

static void read_file(const char *path, struct file_frames *frames)
{
    struct symbol_file file;

    if (strcmp(path, VDSO_PATH) == 0) {
        read_vdso(frames);
        return;
    }
    if (symbol_file_open_loaded(path, &file) != 0)
        return;
    read_symbols(&file.symbols, frames);
    symbol_file_close(&file);
}

/* ---- finding it -------------------------------------------------------------------------------------------------- */

/* The path by which we reach a file of the process. */
static bool reach(uint32_t pid, const char *path, char reached_out[PATH_MAX + 32], struct stat *status_out)
{
    *status_out = (struct stat){.st_ino = 0};
    if (strcmp(path, VDSO_PATH) == 0) {
        snprintf(reached_out, PATH_MAX + 32, "%s", path);
        return true;
    }
    snprintf(reached_out, PATH_MAX + 32, "/proc/%" PRIu32 "/root%s", pid, path);
    if (stat(reached_out, status_out) == 0)
        return true;
    snprintf(reached_out, PATH_MAX + 32, "%s", path);
    return stat(reached_out, status_out) == 0;
}

/* The number of the one that was read already; the count: none was. */
static size_t find_read(const struct known_frames *known, const char *path, const struct stat *status)
{
    size_t at = 0;

    while (at < known->count && (known->list[at]->inode != status->st_ino ||
                                 known->list[at]->device != status->st_dev || strcmp(known->list[at]->path, path) != 0))
        at++;
    return at;
}

static bool add(struct known_frames *known, const char *path, const struct stat *status)
{
    struct file_frames *frames;

    if (known->list == NULL)
        known->list = calloc(FILE_FRAMES_MAX, sizeof(struct file_frames *));
    frames = known->list == NULL || known->count == FILE_FRAMES_MAX ? NULL : calloc(1, sizeof(*frames));
    if (frames == NULL)
        return false;
    frames->path = strdup(path);
    frames->device = status->st_dev;
    frames->inode = status->st_ino;
    if (frames->path == NULL) {
        free(frames);
        return false;
    }
    known->list[known->count++] = frames;
    return true;
}

static const struct file_frames *look(struct known_frames *known, uint32_t pid, const char *path, uint64_t key)
{
    char reached[PATH_MAX + 32];
    struct stat status;
    bool is_there = reach(pid, path, reached, &status);
    size_t number = find_read(known, path, &status);

    if (number == known->count) {
        if (!add(known, path, &status))
            return NULL;
        if (is_there)
            read_file(reached, known->list[number]);
    }
    (void)!hash_map_set(&known->numbers, key, number);
    /* Nobody else looks. */
    hash_map_reclaim(&known->numbers);
    return known->list[number];
}

const struct file_frames *known_frames_find(struct known_frames *known, uint32_t pid,
                                            const struct recorded_module *module)
{
    uint64_t key = text_hash(module->path) ^ pid * PID_FACTOR, number;
    const struct file_frames *frames;

    frames = hash_map_lookup(&known->numbers, key, &number) && strcmp(known->list[number]->path, module->path) == 0
                 ? known->list[number]
                 : look(known, pid, module->path, key);
    return frames == NULL || !frames->has_table ? NULL : frames;
}

int file_frames_place(const struct file_frames *frames, const struct recorded_module *module, uint64_t address,
                      uint64_t *place_out)
{
    uint64_t offset = address - module->start + module->file_offset;

    for (size_t i = 0; i < frames->segment_count; i++) {
        const struct code_segment *segment = &frames->segments[i];

        if (offset - segment->file_offset < segment->size_bytes) {
            *place_out = segment->address + (offset - segment->file_offset);
            return 0;
        }
    }
    return -ENOENT;
}

const struct unwind_table *file_frames_table(const struct file_frames *frames)
{
    return &frames->table;
}

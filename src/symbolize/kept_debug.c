/* SPDX-License-Identifier: MIT */
/*
 * All sections stay where they are in the table, so that what refers to them is right, but most lose their contents:
 * the file looks as those that debuggers get their information from. Program headers are as they were, so that places
 * in the original file can be turned into addresses; only notes are really there.
 */
#define _GNU_SOURCE
#include "symbolize/kept_debug.h"

#include "elf/build_id.h"
#include "elf/sections.h"
#include "elf/symbol_file.h"
#include "symbolize/debug_file.h"
#include "trace/modules.h"
#include "trace/trace_layout.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES        4096
#define ID_BYTES_MAX      32u
#define COPY_BYTES        (1u << 20)
#define ALIGNMENT         8u
#define ALIGNMENT_MAX     4096u
#define SHARED_SECTION    ".gnu_debugaltlink"
#define SHARED_HEAD_BYTES 4096u

struct build_id {
    uint8_t bytes[ID_BYTES_MAX];
    size_t size_bytes;
};

/* A file that is read, and one that is made of it. */
struct copy {
    struct symbol_file file;
    int from;
    int to;
    uint64_t end; /* of what is written so far */
    uint8_t *buffer;
    Elf64_Ehdr header;
    Elf64_Shdr *sections; /* as they will be */
    Elf64_Phdr *segments; /* the same */
};

/* ---- where it is ------------------------------------------------------------------------------------------------- */

/* 12/3456.debug in `folder`, which ends with the place for IDs. */
static void name_by_id(const struct build_id *id, const char *folder, char *path_out, size_t path_bytes)
{
    size_t used = (size_t)snprintf(path_out, path_bytes, "%s/" TRACE_ID_FOLDER "/", folder);

    for (size_t i = 0; i < id->size_bytes && used < path_bytes; i++)
        used += (size_t)snprintf(path_out + used, path_bytes - used, "%02x%s", id->bytes[i], i == 0 ? "/" : "");
    if (used < path_bytes)
        snprintf(path_out + used, path_bytes - used, TRACE_DEBUG_SUFFIX);
}

static struct build_id id_of(const struct recorded_module *module)
{
    struct build_id id = {.size_bytes = module->build_id_bytes};

    memcpy(id.bytes, module->build_id, sizeof(id.bytes));
    return id;
}

void kept_debug_path(const struct recorded_module *module, char path_out[KEPT_DEBUG_PATH_BYTES])
{
    struct build_id id = id_of(module);

    path_out[0] = '\0';
    if (id.size_bytes >= 2)
        name_by_id(&id, TRACE_DEBUG_FOLDER, path_out, KEPT_DEBUG_PATH_BYTES);
}

/* ---- what is taken ----------------------------------------------------------------------------------------------- */

/* Values of variables, macros, and indexes that can be made again are not needed. */
static bool is_left_out(const char *name)
{
    static const char *const names[] = {".debug_loc",          ".debug_loclists",     ".debug_macro",
                                        ".debug_macinfo",      ".debug_frame",        ".debug_pubnames",
                                        ".debug_pubtypes",     ".debug_gnu_pubnames", ".debug_names",
                                        ".debug_gnu_pubtypes", ".debug_gdb_scripts"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool is_debug(const char *name)
{
    return (strncmp(name, ".debug_", 7) == 0 && !is_left_out(name)) || strncmp(name, ".zdebug_", 8) == 0;
}

static bool is_taken(const struct copy *copy, unsigned which)
{
    struct elf_section section;
    const Elf64_Shdr *header = &copy->sections[which];

    if (elf_section_get(&copy->file.symbols, which, &section) != 0)
        return false;
    return is_debug(section.name) || header->sh_type == SHT_SYMTAB || header->sh_type == SHT_NOTE ||
           (header->sh_type == SHT_STRTAB && !(header->sh_flags & SHF_ALLOC)) ||
           strcmp(section.name, SHARED_SECTION) == 0;
}

static bool has_lines(const struct elf_symbols *symbols)
{
    struct elf_section section;

    for (unsigned i = 0; elf_section_get(symbols, i, &section) == 0; i++)
        if (section.type != SHT_NOBITS &&
            (strcmp(section.name, ".debug_line") == 0 || strcmp(section.name, ".debug_info") == 0 ||
             strcmp(section.name, ".zdebug_line") == 0))
            return true;
    return false;
}

/* ---- copying ----------------------------------------------------------------------------------------------------- */

static int write_at(int fd, const void *bytes, size_t size_bytes, uint64_t offset)
{
    const uint8_t *from = bytes;

    while (size_bytes != 0) {
        ssize_t written = pwrite(fd, from, size_bytes, (off_t)offset);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written == 0 ? -EIO : -errno;
        from += written;
        offset += (uint64_t)written;
        size_bytes -= (size_t)written;
    }
    return 0;
}

static int copy_bytes(struct copy *copy, uint64_t offset, uint64_t size_bytes)
{
    while (size_bytes != 0) {
        size_t wanted = size_bytes < COPY_BYTES ? (size_t)size_bytes : COPY_BYTES;
        ssize_t got = pread(copy->from, copy->buffer, wanted, (off_t)offset);
        int result;

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0 ? -ENOENT : -errno;
        result = write_at(copy->to, copy->buffer, (size_t)got, copy->end);
        if (result != 0)
            return result;
        copy->end += (uint64_t)got;
        offset += (uint64_t)got;
        size_bytes -= (uint64_t)got;
    }
    return 0;
}

static void align(struct copy *copy, uint64_t alignment)
{
    if (alignment == 0 || alignment > ALIGNMENT_MAX)
        alignment = ALIGNMENT;
    copy->end = (copy->end + alignment - 1) / alignment * alignment;
}

/* Notes of a segment follow each other as before, so the first one says where they are. */
static void move_notes(struct copy *copy, uint64_t from, uint64_t to)
{
    for (unsigned i = 0; i < copy->header.e_phnum; i++)
        if ((copy->segments[i].p_type == PT_NOTE || copy->segments[i].p_type == PT_GNU_PROPERTY) &&
            copy->segments[i].p_offset == from)
            copy->segments[i].p_offset = to;
}

static int copy_section(struct copy *copy, unsigned which)
{
    Elf64_Shdr *section = &copy->sections[which];
    uint64_t from = section->sh_offset;

    if (section->sh_type == SHT_NULL || section->sh_type == SHT_NOBITS)
        return 0;
    if (!is_taken(copy, which)) {
        section->sh_type = SHT_NOBITS;
        section->sh_offset = copy->end;
        return 0;
    }
    if (from > copy->file.size_bytes || section->sh_size > copy->file.size_bytes - from)
        return -ENOENT;
    align(copy, section->sh_addralign);
    section->sh_offset = copy->end;
    if (section->sh_type == SHT_NOTE)
        move_notes(copy, from, copy->end);
    return copy_bytes(copy, from, section->sh_size);
}

/* Headers are written last, when it is known where everything is. */
static int copy_sections(struct copy *copy)
{
    size_t segments_bytes = copy->header.e_phnum * sizeof(*copy->segments);
    int result = 0;

    copy->end = sizeof(copy->header) + segments_bytes;
    for (unsigned i = 0; i < copy->header.e_shnum && result == 0; i++)
        result = copy_section(copy, i);
    align(copy, ALIGNMENT);
    copy->header.e_phoff = segments_bytes == 0 ? 0 : sizeof(copy->header);
    copy->header.e_shoff = copy->end;
    if (result == 0)
        result = write_at(copy->to, copy->sections, copy->header.e_shnum * sizeof(*copy->sections), copy->end);
    if (result == 0)
        result = write_at(copy->to, copy->segments, segments_bytes, sizeof(copy->header));
    return result == 0 ? write_at(copy->to, &copy->header, sizeof(copy->header), 0) : result;
}

static void *read_table(const struct symbol_file *file, uint64_t offset, uint64_t size_bytes)
{
    void *table;

    if (offset > file->size_bytes || size_bytes > file->size_bytes - offset)
        return NULL;
    table = malloc(size_bytes + 1);
    if (table != NULL)
        memcpy(table, (const uint8_t *)file->memory + offset, size_bytes);
    return table;
}

static int run_copy(struct copy *copy)
{
    int result = -ENOENT;

    memcpy(&copy->header, copy->file.memory, sizeof(copy->header));
    copy->sections =
        read_table(&copy->file, copy->header.e_shoff, copy->header.e_shnum * (uint64_t)sizeof(*copy->sections));
    copy->segments =
        read_table(&copy->file, copy->header.e_phoff, copy->header.e_phnum * (uint64_t)sizeof(*copy->segments));
    copy->buffer = malloc(COPY_BYTES);
    if (copy->sections != NULL && copy->segments != NULL && copy->buffer != NULL)
        result = copy_sections(copy);
    free(copy->sections);
    free(copy->segments);
    free(copy->buffer);
    return result;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static bool has_id(const struct elf_symbols *symbols, const struct build_id *id)
{
    const uint8_t *bytes;
    size_t size_bytes;

    return elf_build_id_find(symbols, &bytes, &size_bytes) == 0 && size_bytes == id->size_bytes &&
           memcmp(bytes, id->bytes, size_bytes) == 0;
}

/* A file of that build with debug information in it. */
static int open_copy(const char *path, const struct build_id *id, struct copy *copy)
{
    *copy = (struct copy){.from = -1, .to = -1};
    if (symbol_file_open(path, &copy->file) != 0)
        return -ENOENT;
    copy->from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (copy->from >= 0 && has_id(&copy->file.symbols, id) && has_lines(&copy->file.symbols))
        return 0;
    if (copy->from >= 0)
        close(copy->from);
    symbol_file_close(&copy->file);
    return -ENOENT;
}

static void close_copy(struct copy *copy)
{
    symbol_file_close(&copy->file);
    close(copy->from);
}

static int make_folders(int folder, const char *path)
{
    char part[KEPT_DEBUG_PATH_BYTES];

    for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
        if (mkdirat(folder, part, 0777) != 0 && errno != EEXIST)
            return -errno;
    }
    return 0;
}

static int create_copy(struct copy *copy, int folder, const struct build_id *id, char path_out[KEPT_DEBUG_PATH_BYTES])
{
    int result;

    name_by_id(id, TRACE_DEBUG_FOLDER, path_out, KEPT_DEBUG_PATH_BYTES);
    result = make_folders(folder, path_out);
    if (result != 0)
        return result;
    copy->to = openat(folder, path_out, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return copy->to < 0 ? -errno : 0;
}

static int finish_copy(struct copy *copy, int folder, const char *path, int result)
{
    if (close(copy->to) != 0 && result == 0)
        result = -errno;
    if (result != 0)
        (void)unlinkat(folder, path, 0);
    return result;
}

static int write_copy(struct copy *copy, int folder, const struct build_id *id)
{
    char path[KEPT_DEBUG_PATH_BYTES];
    int result = create_copy(copy, folder, id, path);

    return result != 0 ? result : finish_copy(copy, folder, path, run_copy(copy));
}

/* The file that several share parts with: its path, a NUL and its build ID are in a section. */
static bool find_shared(const struct copy *copy, const char *own_path, char path_out[PATH_BYTES], struct build_id *id)
{
    struct elf_section section;
    char bytes[PATH_BYTES];
    size_t length;
    ssize_t got;
    unsigned i = 0;

    while (elf_section_get(&copy->file.symbols, i, &section) == 0 && strcmp(section.name, SHARED_SECTION) != 0)
        i++;
    if (elf_section_get(&copy->file.symbols, i, &section) != 0 || section.size_bytes > sizeof(bytes))
        return false;
    got = pread(copy->from, bytes, section.size_bytes, (off_t)section.file_offset);
    length = got <= 0 ? 0 : strnlen(bytes, (size_t)got);
    if (got <= 0 || length + 1 >= (size_t)got || (size_t)got - length - 1 > ID_BYTES_MAX)
        return false;
    id->size_bytes = (size_t)got - length - 1;
    memcpy(id->bytes, bytes + length + 1, id->size_bytes);
    return id->size_bytes >= 2 &&
           snprintf(path_out, PATH_BYTES, "%.*s%s", bytes[0] == '/' ? 0 : (int)(strrchr(own_path, '/') + 1 - own_path),
                    own_path, bytes) < PATH_BYTES;
}

/* There is nothing else in such a file, which nobody loads: it is taken as it is. Its ID is near its beginning. */
static int open_shared(const char *path, const struct build_id *id, struct copy *copy, uint64_t *size_out)
{
    char head[SHARED_HEAD_BYTES];
    struct stat status;
    ssize_t got;

    *copy = (struct copy){.from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), .to = -1};
    if (copy->from < 0)
        return -ENOENT;
    got = pread(copy->from, head, sizeof(head), 0);
    if (got > 0 && memmem(head, (size_t)got, id->bytes, id->size_bytes) != NULL && fstat(copy->from, &status) == 0 &&
        S_ISREG(status.st_mode)) {
        *size_out = (uint64_t)status.st_size;
        return 0;
    }
    close(copy->from);
    return -ENOENT;
}

static int write_shared(const struct copy *copy, const char *own_path, int folder)
{
    char path[PATH_BYTES], name[KEPT_DEBUG_PATH_BYTES];
    struct build_id id;
    struct copy shared;
    uint64_t size_bytes;
    int result;

    if (!find_shared(copy, own_path, path, &id) || open_shared(path, &id, &shared, &size_bytes) != 0)
        return 0;
    result = create_copy(&shared, folder, &id, name);
    if (result == 0) {
        shared.buffer = malloc(COPY_BYTES);
        result = shared.buffer == NULL ? -ENOMEM : copy_bytes(&shared, 0, size_bytes);
        free(shared.buffer);
        result = finish_copy(&shared, folder, name, result);
    }
    close(shared.from);
    return result == -EEXIST || result == -ENOENT ? 0 : result;
}

int kept_debug_write(const struct recorded_module *module, int folder)
{
    struct build_id id = id_of(module);
    char path[PATH_BYTES];
    struct copy copy;
    int result = -ENOENT;

    if (id.size_bytes < 2 || id.size_bytes > ID_BYTES_MAX || module->path[0] != '/')
        return -ENOENT;
    name_by_id(&id, DEBUG_FILE_FOLDERS, path, sizeof(path));
    result = open_copy(path, &id, &copy);
    if (result != 0 && strlen(module->path) < sizeof(path)) {
        strcpy(path, module->path);
        result = open_copy(path, &id, &copy);
    }
    if (result != 0)
        return result;
    result = write_copy(&copy, folder, &id);
    if (result == 0)
        result = write_shared(&copy, path, folder);
    close_copy(&copy);
    return result;
}

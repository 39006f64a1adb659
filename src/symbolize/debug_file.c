/* SPDX-License-Identifier: MIT */
/*
 * The separate file is preferred, since it has all names; .gnu_debugdata has those of functions only. Neither is
 * trusted: they are read as any ELF file is, and a file that says to be of another build is left alone.
 */
#include "symbolize/debug_file.h"

#include "elf/build_id.h"
#include "symbolize/xz.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES         4096
#define ID_BYTES_MAX       64
#define UNPACKED_BYTES_MAX (256u << 20)

static bool has_names(const struct elf_symbols *symbols)
{
    return elf_symbols_count(symbols) != 0;
}

/* Its notes may be left out; if it has an ID, it must be this. */
static bool is_of(const struct elf_symbols *symbols, const uint8_t *id, size_t id_bytes)
{
    const uint8_t *own;
    size_t own_bytes;

    return elf_build_id_find(symbols, &own, &own_bytes) != 0 ||
           (own_bytes == id_bytes && memcmp(own, id, id_bytes) == 0);
}

static int open_path(const char *path, const uint8_t *id, size_t id_bytes, struct debug_file *debug_out)
{
    struct symbol_file file;

    if (symbol_file_open(path, &file) != 0)
        return -ENOENT;
    if (!has_names(&file.symbols) || !is_of(&file.symbols, id, id_bytes)) {
        symbol_file_close(&file);
        return -ENOENT;
    }
    *debug_out = (struct debug_file){.symbols = file.symbols, .file = file};
    return 0;
}

/* FOLDER/.build-id/12/3456.debug */
static int open_by_id(const struct elf_symbols *symbols, const char *folders, struct debug_file *debug_out)
{
    char path[PATH_BYTES], digits[2 * ID_BYTES_MAX + 1] = "";
    const uint8_t *id;
    size_t id_bytes;

    if (elf_build_id_find(symbols, &id, &id_bytes) != 0 || id_bytes < 2 || id_bytes > ID_BYTES_MAX)
        return -ENOENT;
    for (size_t i = 0; i < id_bytes; i++)
        snprintf(digits + 2 * i, 3, "%02x", id[i]);
    while (*folders != '\0') {
        size_t length = strcspn(folders, ":");
        int written =
            snprintf(path, sizeof(path), "%.*s/.build-id/%.2s/%s.debug", (int)length, folders, digits, digits + 2);

        if (length != 0 && written < PATH_BYTES && open_path(path, id, id_bytes, debug_out) == 0)
            return 0;
        folders += length + (folders[length] == ':');
    }
    return -ENOENT;
}

static bool read_at(const struct elf_symbols *symbols, uint64_t offset, void *value_out, size_t size_bytes)
{
    if (offset > symbols->size_bytes || symbols->size_bytes - offset < size_bytes)
        return false;
    memcpy(value_out, symbols->bytes + offset, size_bytes);
    return true;
}

static bool find_section(const struct elf_symbols *symbols, const char *name, Elf64_Shdr *section_out)
{
    size_t name_bytes = strlen(name) + 1;
    char here[32];
    Elf64_Shdr names;
    Elf64_Ehdr header;

    if (name_bytes > sizeof(here) || !read_at(symbols, 0, &header, sizeof(header)) ||
        !read_at(symbols, header.e_shoff + (uint64_t)header.e_shstrndx * sizeof(names), &names, sizeof(names)))
        return false;
    for (unsigned i = 0; i < header.e_shnum; i++)
        if (read_at(symbols, header.e_shoff + i * sizeof(*section_out), section_out, sizeof(*section_out)) &&
            read_at(symbols, names.sh_offset + section_out->sh_name, here, name_bytes) &&
            memcmp(here, name, name_bytes) == 0)
            return true;
    return false;
}

static int open_packed(const struct elf_symbols *symbols, struct debug_file *debug_out)
{
    struct debug_file debug = {0};
    size_t size_bytes = 0;
    Elf64_Shdr section;

    if (!find_section(symbols, ".gnu_debugdata", &section) || section.sh_offset > symbols->size_bytes ||
        section.sh_size > symbols->size_bytes - section.sh_offset ||
        xz_unpack(symbols->bytes + section.sh_offset, section.sh_size, UNPACKED_BYTES_MAX, &debug.unpacked,
                  &size_bytes) != 0)
        return -ENOENT;
    if (elf_symbols_parse(debug.unpacked, size_bytes, &debug.symbols) != 0 || !has_names(&debug.symbols)) {
        free(debug.unpacked);
        return -ENOENT;
    }
    *debug_out = debug;
    return 0;
}

int debug_file_open(const struct elf_symbols *symbols, const char *folders, struct debug_file *debug_out)
{
    int result = open_by_id(symbols, folders, debug_out);

    return result == 0 ? 0 : open_packed(symbols, debug_out);
}

/* The name in the section .gnu_debuglink; NULL: there is none. */
static const char *find_link(const struct elf_symbols *symbols)
{
    const char *name;
    Elf64_Shdr section;

    if (!find_section(symbols, ".gnu_debuglink", &section) || section.sh_offset > symbols->size_bytes ||
        section.sh_size > symbols->size_bytes - section.sh_offset)
        return NULL;
    name = (const char *)symbols->bytes + section.sh_offset;
    return memchr(name, '\0', section.sh_size) == NULL || *name == '\0' || strchr(name, '/') != NULL ? NULL : name;
}

static int open_same(const char *path, const struct elf_symbols *symbols, struct debug_file *debug_out)
{
    const uint8_t *id, *own;
    size_t id_bytes, own_bytes;
    struct debug_file debug;

    if (elf_build_id_find(symbols, &id, &id_bytes) != 0 || open_path(path, id, id_bytes, &debug) != 0)
        return -ENOENT;
    if (elf_build_id_find(&debug.symbols, &own, &own_bytes) != 0) {
        debug_file_close(&debug);
        return -ENOENT;
    }
    *debug_out = debug;
    return 0;
}

int debug_file_open_named(const struct elf_symbols *symbols, const char *path, const char *folders,
                          struct debug_file *debug_out)
{
    const char *name = find_link(symbols), *slash = strrchr(path, '/');
    int folder_length = slash == NULL ? 0 : (int)(slash - path);
    char tried[PATH_BYTES];

    if (name == NULL || slash == NULL)
        return -ENOENT;
    snprintf(tried, sizeof(tried), "%.*s/%s", folder_length, path, name);
    if (open_same(tried, symbols, debug_out) == 0)
        return 0;
    snprintf(tried, sizeof(tried), "%.*s/.debug/%s", folder_length, path, name);
    if (open_same(tried, symbols, debug_out) == 0)
        return 0;
    while (*folders != '\0') {
        size_t length = strcspn(folders, ":");

        snprintf(tried, sizeof(tried), "%.*s%.*s/%s", (int)length, folders, folder_length, path, name);
        if (length != 0 && open_same(tried, symbols, debug_out) == 0)
            return 0;
        folders += length + (folders[length] == ':');
    }
    return -ENOENT;
}

void debug_file_close(struct debug_file *debug)
{
    if (debug->file.memory != NULL)
        symbol_file_close(&debug->file);
    free(debug->unpacked);
    *debug = (struct debug_file){0};
}

/* SPDX-License-Identifier: MIT */
/*
 * Opening files the way a person names them. Libraries are looked up by name in directories rather than by asking the
 * dynamic loader, which would run their constructors: see docs/decisions/library_lookup.md. No state beside the file's.
 */
#include "cli/code_file.h"

#include "arch/arch.h"
#include "arch/cpu.h"
#include "base/text_parse.h"
#include "cli/options/nearest_name.h"
#include "hosted/error_text.h"
#include "symbolize/spelled_functions.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where libraries are; the folder for a CPU stands for any. */
static const char *const directories[] = {
    "/usr/local/lib/", "/lib/", "/usr/lib/", "/lib64/", "/usr/lib64/", "/lib/*/", "/usr/lib/*/",
};

static int explain_open(const char *name, int code, struct gait_error *err)
{
    switch (code) {
    case ENOENT:
        if (strchr(name, '/') == NULL)
            return error_set(err, code,
                             "cannot open '%s': there is no such file here and no such library in the usual "
                             "directories; try a path, or the whole name of a library such as libc.so.6",
                             name);
        return error_set(err, code, "cannot open '%s': there is no such file; try another path", name);
    case EACCES:
        return error_set(err, code, "cannot open '%s': this user may not read it; try as one who may", name);
    case EISDIR:
        return error_set(err, code, "cannot read '%s': it is a directory; try a program or a library in it", name);
    default:
        return error_set(err, code, "cannot read '%s': %s; try another file", name, strerror(code));
    }
}

static int read_descriptor(int fd, uint8_t **bytes_out, size_t *size_out)
{
    struct stat status;
    uint8_t *bytes;
    size_t used = 0;

    if (fstat(fd, &status) != 0)
        return -errno;
    if (S_ISDIR(status.st_mode))
        return -EISDIR;
    if (!S_ISREG(status.st_mode) || status.st_size == 0)
        return -ENOEXEC;
    bytes = malloc((size_t)status.st_size);
    if (bytes == NULL)
        return -ENOMEM;
    while (used < (size_t)status.st_size) {
        ssize_t count = read(fd, bytes + used, (size_t)status.st_size - used);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            int result = count == 0 ? -EIO : -errno;

            free(bytes);
            return result;
        }
        used += (size_t)count;
    }
    *bytes_out = bytes;
    *size_out = used;
    return 0;
}

/* Reads a file by its path; -ENOEXEC: it is no ELF file. */
static int read_file(const char *path, struct code_file *file_out)
{
    struct code_file file = {.bytes = NULL};
    size_t size_bytes = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int result;

    if (fd < 0)
        return -errno;
    result = read_descriptor(fd, &file.bytes, &size_bytes);
    close(fd);
    if (result != 0)
        return result;
    result = elf_symbols_parse(file.bytes, size_bytes, &file.symbols);
    if (result != 0) {
        free(file.bytes);
        return result;
    }
    snprintf(file.path, sizeof(file.path), "%s", path);
    file.arch = arch_by_elf_machine(file.symbols.machine);
    *file_out = file;
    return 0;
}

/* Looks into one directory, or into several by a pattern: the first file that is for this CPU. */
static int search(const char *pattern, struct code_file *file_out)
{
    glob_t found;
    int result = -ENOENT;

    if (glob(pattern, 0, NULL, &found) != 0)
        return -ENOENT;
    for (size_t i = 0; i < found.gl_pathc && result != 0; i++) {
        result = read_file(found.gl_pathv[i], file_out);
        if (result == 0 && file_out->arch != arch_host()) {
            code_file_close(file_out);
            result = -ENOENT;
        }
    }
    globfree(&found);
    return result;
}

static int search_library(const char *name, struct code_file *file_out)
{
    char pattern[CODE_FILE_PATH_BYTES];
    int result = -ENOENT;

    if (strstr(name, ".so") == NULL || strpbrk(name, "/*?[]\\") != NULL)
        return -ENOENT;
    for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]) && result != 0; i++) {
        snprintf(pattern, sizeof(pattern), "%s%s", directories[i], name);
        result = search(pattern, file_out);
    }
    return result == 0 ? 0 : -ENOENT;
}

int code_file_open(const char *name, struct code_file *file_out, struct gait_error *err)
{
    int result = read_file(name, file_out);

    if (result == -ENOENT && strchr(name, '/') == NULL)
        result = search_library(name, file_out);
    if (result == -ENOEXEC)
        return error_set(err, result, "cannot read '%s': it is not a 64-bit ELF program or library; try one that is",
                         name);
    if (result != 0)
        return explain_open(name, -result, err);
    if (file_out->arch == NULL) {
        result = error_set(err, ENOTSUP,
                           "cannot read the code of '%s': it is for another CPU (ELF machine %u), whose "
                           "instructions gait does not know yet; try a file for %s",
                           name, file_out->symbols.machine, cpu_host()->name);
        code_file_close(file_out);
    }
    return result;
}

void code_file_close(struct code_file *file)
{
    free(file->bytes);
    file->bytes = NULL;
}

static int refuse_name(const struct code_file *file, const char *name, struct gait_error *err)
{
    struct nearest_names nearest;
    struct elf_symbol symbol;
    char text[3 * NEAREST_NAME_BYTES];
    uint64_t named = 0;

    nearest_names_init(&nearest, name);
    for (uint64_t i = 0; i < elf_symbols_count(&file->symbols); i++) {
        if (elf_symbols_get(&file->symbols, i, &symbol) != 0)
            continue;
        named++;
        nearest_names_offer(&nearest, symbol.name, symbol.name_length);
    }
    nearest_names_join(&nearest, text, sizeof(text));
    if (named == 0)
        return error_set(err, ENOENT, "cannot find '%s' in %s: the file has no names of functions; try 0xADDRESS+SIZE",
                         name, file->path);
    return error_set(err, ENOENT, "cannot find '%s' in %s: no function has that name; try %s", name, file->path,
                     nearest.count > 0 ? text : "another name, or 0xADDRESS+SIZE");
}

static void set_name(struct code_excerpt *excerpt, const struct elf_symbol *symbol)
{
    snprintf(excerpt->name, sizeof(excerpt->name), "%.*s", (int)(symbol->name_length & INT16_MAX), symbol->name);
    excerpt->is_resolver = symbol->is_resolver;
}

/* Finds the bytes of a excerpt whose address is known; size 0: it has to be known from the symbol. */
static int complete(const struct code_file *file, const char *where, struct code_excerpt *excerpt,
                    struct gait_error *err)
{
    struct elf_symbol symbol;
    uint64_t available;

    if (elf_symbols_code(&file->symbols, excerpt->address, &excerpt->bytes, &available) != 0)
        return error_set(err, ENOENT,
                         "cannot find code at %s in %s: nothing executable is there; try an address as "
                         "symbol tables or 'objdump -h' show it",
                         where, file->path);
    if (excerpt->name[0] == '\0' && elf_symbols_find_address(&file->symbols, excerpt->address, &symbol) == 0) {
        set_name(excerpt, &symbol);
        if (excerpt->size_bytes == 0)
            excerpt->size_bytes = symbol.address + symbol.size_bytes - excerpt->address;
    }
    if (excerpt->size_bytes == 0)
        return error_set(err, EINVAL, "cannot find where the code at %s in %s ends: no symbol covers it; try %s+SIZE",
                         where, file->path, where);
    if (excerpt->size_bytes > available)
        excerpt->size_bytes = available;
    return 0;
}

static int parse_place(const char *where, uint64_t *address_out, uint64_t *size_out, struct gait_error *err)
{
    size_t length = strcspn(where, "+");
    const char *size = where + length + 1;

    *size_out = 0;
    if (text_parse_number(where, length, address_out) != 0 ||
        (where[length] == '+' && (text_parse_number(size, strlen(size), size_out) != 0 || *size_out == 0)))
        return error_set(err, EINVAL,
                         "cannot read '%s' as a place in code: it is no number; try 0xADDRESS or "
                         "0xADDRESS+SIZE",
                         where);
    return 0;
}

/* A place as it is shown, or a function as its source has it. */
static int find_spelled(const struct code_file *file, const char *where, size_t which, struct code_excerpt *excerpt_out,
                        struct gait_error *err)
{
    const struct function_spelling spelling = function_spelling_of(where);
    struct code_excerpt excerpt = {.bytes = NULL};
    struct spelled_list list = {.count = 0};
    struct spelled_file opened;
    int result = -ENOENT;

    spelled_file_borrow(&opened, file->path, &file->symbols, NULL);
    if (!spelling.has_module || function_spelling_has_module(&spelling, file->path))
        result = spelled_functions_find(&opened, &spelling, &list);
    if (result == 0 && which < list.count) {
        excerpt.address = spelling.kind == SPELLING_ADDRESS ? list.ones[which].at : list.ones[which].start;
        result = complete(file, where, &excerpt, err);
        if (result == 0)
            *excerpt_out = excerpt;
    } else if (which == 0) {
        result = refuse_name(file, where, err);
    } else {
        result = -ENOENT;
    }
    spelled_list_deinit(&list);
    spelled_file_close(&opened);
    return result;
}

int code_file_find(const struct code_file *file, const char *where, struct code_excerpt *excerpt_out,
                   struct gait_error *err)
{
    return code_file_find_next(file, where, 0, excerpt_out, err);
}

int code_file_find_next(const struct code_file *file, const char *where, size_t which, struct code_excerpt *excerpt_out,
                        struct gait_error *err)
{
    struct code_excerpt excerpt = {.bytes = NULL};
    struct elf_symbol symbol;
    int result;

    if (strncmp(where, "0x", 2) == 0 || strncmp(where, "0X", 2) == 0) {
        result = parse_place(where, &excerpt.address, &excerpt.size_bytes, err);
        if (result != 0)
            return result;
    } else {
        if (elf_symbols_find(&file->symbols, where, &symbol) != 0)
            return find_spelled(file, where, which, excerpt_out, err);
        if (which != 0)
            return -ENOENT;
        set_name(&excerpt, &symbol);
        excerpt.address = symbol.address;
        excerpt.size_bytes = symbol.size_bytes;
    }
    if (which != 0)
        return -ENOENT;
    result = complete(file, where, &excerpt, err);
    if (result == 0)
        *excerpt_out = excerpt;
    return result;
}

int code_file_open_for_host(const char *const names[2], const char *what, struct code_file *file_out,
                            struct code_excerpt *excerpt_out, struct gait_error *err)
{
    int result = code_file_open(names[0], file_out, err);

    if (result != 0)
        return result;
    if (file_out->arch != arch_host())
        result =
            error_set(err, ENOTSUP, "cannot %s code of '%s': it is for %s, not for this CPU; try on such a machine",
                      what, names[0], file_out->arch->name);
    else
        result = code_file_find(file_out, names[1], excerpt_out, err);
    if (result != 0)
        code_file_close(file_out);
    return result;
}

/* SPDX-License-Identifier: MIT */
/* Names come from the file's own tables, then from those of a file with debug information about it. */
#define _GNU_SOURCE
#include "kernel/user_code.h"

#include "hosted/error_text.h"
#include "symbolize/spelled_functions.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- finding the file -------------------------------------------------------------------------------------------- */

static bool try_path(const char *path, char path_out[PATH_MAX])
{
    return access(path, R_OK) == 0 && realpath(path, path_out) != NULL;
}

/* The first that a pattern leads to. */
static bool try_pattern(const char *folder, const char *name, const char *end, char path_out[PATH_MAX])
{
    char pattern[PATH_MAX];
    glob_t found;
    bool is_found = false;

    if (snprintf(pattern, sizeof(pattern), "%s/%s%s", folder, name, end) >= (int)sizeof(pattern) ||
        glob(pattern, 0, NULL, &found) != 0)
        return false;
    for (size_t i = 0; i < found.gl_pathc && !is_found; i++)
        is_found = try_path(found.gl_pathv[i], path_out);
    globfree(&found);
    return is_found;
}

static bool find_program(const char *name, char path_out[PATH_MAX])
{
    const char *folders = getenv("PATH");

    while (folders != NULL && *folders != '\0') {
        size_t length = strcspn(folders, ":");
        char path[PATH_MAX];

        if (snprintf(path, sizeof(path), "%.*s/%s", (int)length, folders, name) < (int)sizeof(path) &&
            access(path, X_OK) == 0 && try_path(path, path_out))
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

static bool find_library(const char *name, char path_out[PATH_MAX])
{
    static const char *const folders[] = {
        "/usr/local/lib", "/lib/*-linux-*", "/usr/lib/*-linux-*", "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
    static const char *const ends[] = {"", ".so", ".so.[0-9]*"};

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        for (size_t j = 0; j < sizeof(folders) / sizeof(folders[0]); j++)
            /* libc.so is a script for linkers. */
            if (i != 1 && try_pattern(folders[j], name, ends[i], path_out))
                return true;
    return false;
}

static int find_file(const char *name, char path_out[PATH_MAX], struct gait_error *err)
{
    if (strchr(name, '/') != NULL) {
        if (try_path(name, path_out))
            return 0;
        return error_set(err, errno, "cannot read '%s': %s; try another path", name, strerror(errno));
    }
    if (find_program(name, path_out) || find_library(name, path_out) || try_path(name, path_out))
        return 0;
    return error_set(err, ENOENT,
                     "cannot find '%s': there is no such program, nor such a library in the usual folders; try a path",
                     name);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

int user_code_open(const char *name, struct user_code *code_out, struct gait_error *err)
{
    const char *folders = getenv("GAIT_DEBUG_PATH");
    int result = find_file(name, code_out->path, err);

    if (result != 0)
        return result;
    result = symbol_file_open_whole(code_out->path, &code_out->file);
    if (result != 0)
        return error_set(err, result, "cannot read '%s': %s; try a program or a library", code_out->path,
                         result == -ENOEXEC ? "it is not a 64-bit ELF file" : strerror(-result));
    code_out->debug = (struct debug_file){.unpacked = NULL};
    if (debug_file_open(&code_out->file.symbols, folders == NULL ? DEBUG_FILE_FOLDERS : folders, &code_out->debug) != 0)
        code_out->debug = (struct debug_file){.unpacked = NULL};
    return 0;
}

void user_code_close(struct user_code *code)
{
    if (code->debug.symbols.bytes != NULL)
        debug_file_close(&code->debug);
    symbol_file_close(&code->file);
}

int user_code_place(const struct user_code *code, uint64_t address, uint64_t *file_offset_out)
{
    const uint8_t *bytes;
    uint64_t available;
    int result = elf_symbols_code(&code->file.symbols, address, &bytes, &available);

    if (result == 0)
        *file_offset_out = (uint64_t)(bytes - code->file.symbols.bytes);
    return result;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static int make_function(const struct user_code *code, const struct elf_symbol *symbol,
                         struct user_function *function_out)
{
    struct user_function function = {symbol->name, symbol->name_length, symbol->address, 0};
    int result = user_code_place(code, symbol->address, &function.file_offset);

    if (result == 0)
        *function_out = function;
    return result;
}

static int find_in(const struct user_code *code, const struct elf_symbols *symbols, const char *name,
                   struct user_function *function_out)
{
    size_t length = strlen(name);
    struct elf_symbol symbol;

    for (uint64_t i = 0; i < elf_symbols_count(symbols); i++)
        if (elf_symbols_peek(symbols, i, &symbol) == 0 && symbol.is_function && symbol.name_length == length &&
            memcmp(symbol.name, name, length) == 0 && make_function(code, &symbol, function_out) == 0)
            return 0;
    return -ENOENT;
}

int user_code_find(const struct user_code *code, const char *name, struct user_function *function_out)
{
    if (find_in(code, &code->file.symbols, name, function_out) == 0)
        return 0;
    return code->debug.symbols.bytes == NULL ? -ENOENT : find_in(code, &code->debug.symbols, name, function_out);
}

/* An address or a line is a place of its own; a function is where it begins. */
static int make_place(const struct user_code *code, const struct function_spelling *spelling,
                      const struct spelled_one *one, struct user_function *function_out)
{
    const struct elf_symbol symbol = {.name = one->name, .name_length = one->name_length, .address = one->start};
    const struct elf_symbol place = {.name = "", .address = one->at};

    return make_function(code, spelling->kind == SPELLING_NAME && one->name != NULL ? &symbol : &place, function_out);
}

/* The places of a line are as many as it has code. */
static int find_spelled(struct spelled_file *file, const struct function_spelling *spelling, struct spelled_list *list)
{
    if (spelling->has_module && !function_spelling_has_module(spelling, file->path))
        return -ENOENT;
    return spelling->kind == SPELLING_LINE ? spelled_lines_find(file->path, spelling, list)
                                           : spelled_functions_find(file, spelling, list);
}

int user_code_list(const struct user_code *code, const char *pattern,
                   int (*visit)(void *context, const struct user_function *function), void *context)
{
    const struct function_spelling spelling = function_spelling_of(pattern);
    struct spelled_list list = {.count = 0};
    struct user_function function;
    struct spelled_file file;
    int result;

    spelled_file_borrow(&file, code->path, &code->file.symbols,
                        code->debug.symbols.bytes == NULL ? NULL : &code->debug.symbols);
    result = find_spelled(&file, &spelling, &list);
    if (result == -ENOENT)
        result = 0;
    for (size_t i = 0; i < list.count && result == 0; i++)
        if (make_place(code, &spelling, &list.ones[i], &function) == 0)
            result = visit(context, &function);
    spelled_list_deinit(&list);
    spelled_file_close(&file);
    return result;
}

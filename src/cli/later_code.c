/* SPDX-License-Identifier: MIT */
/* The C library has all of these, and does not count. */
#include "cli/later_code.h"

#include "elf/function_list.h"
#include "elf/symbol_entries.h"
#include "elf/symbol_file.h"
#include "elf/symbols.h"
#include "symbolize/program_files.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* As many functions are little beside a library that has ten times as many. */
#define LAUNCHER_SHARE 10

static const char *const loading[] = {"dlopen", "dlmopen", "__libc_dlopen_mode"};

static const char *const executing[] = {"execve",       "execv",  "execvp",  "execvpe",          "execl",
                                        "execlp",       "execle", "fexecve", "system",           "posix_spawn",
                                        "posix_spawnp", "popen",  "fork",    "syscall.forkExec", "syscall.Exec"};

static bool is_among(const struct elf_symbol_entry *entry, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == entry->name_length && memcmp(names[i], entry->name, entry->name_length) == 0)
            return true;
    return false;
}

static bool is_dynamic(const struct elf_symbols *symbols)
{
    struct elf_symbol_entry entry;

    for (uint64_t i = 0; i < elf_symbols_count(symbols); i++)
        if (elf_symbol_entry_get(symbols, i, &entry) == 0 && entry.is_dynamic)
            return true;
    return false;
}

/* A static program has what it uses; one without names may use anything. */
void later_code_add(struct later_code *later, const struct elf_symbols *symbols)
{
    bool has_needs = is_dynamic(symbols);
    uint64_t count = elf_symbols_count(symbols);
    struct elf_symbol_entry entry;

    if (count == 0)
        later->has_libraries = later->has_programs = true;
    for (uint64_t i = 0; i < count; i++) {
        if (elf_symbol_entry_get(symbols, i, &entry) != 0 || (has_needs && entry.section != 0))
            continue;
        later->has_libraries |= is_among(&entry, loading, sizeof(loading) / sizeof(loading[0]));
        later->has_programs |= is_among(&entry, executing, sizeof(executing) / sizeof(executing[0]));
    }
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

/* About how many functions a file has. */
static size_t count_functions(const char *path)
{
    struct symbol_file file;
    struct eh_frame frame;
    size_t count;

    if (symbol_file_open_loaded(path, &file) != 0)
        return 0;
    if (elf_function_list_frame(&file.symbols, &frame) != 0)
        frame = (struct eh_frame){.bytes = NULL};
    count = elf_function_list_capacity(&file.symbols, &frame);
    symbol_file_close(&file);
    return count;
}

bool later_code_of_launcher(const struct program_files *files, char *text_out, size_t text_bytes)
{
    const char *program = base_name(files->paths[0]);
    size_t length = 0;

    while (isalpha((unsigned char)program[length]))
        length++;
    /* Which of its virtual machines it loads is said on the command line. */
    if (strcmp(program, "java") == 0) {
        snprintf(text_out, text_bytes, "libjvm*:*");
        return true;
    }
    for (size_t i = 1; i < files->count && length >= 3; i++) {
        const char *library = base_name(files->paths[i]);

        if (strncmp(library, "lib", 3) == 0 && strncmp(library + 3, program, length) == 0 &&
            count_functions(files->paths[i]) > LAUNCHER_SHARE * count_functions(files->paths[0])) {
            snprintf(text_out, text_bytes, "lib%.*s*:*", (int)length, program);
            return true;
        }
    }
    return false;
}

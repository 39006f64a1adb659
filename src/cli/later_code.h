/* SPDX-License-Identifier: MIT */
/*
 * Whether code may come into a process that is not there when it begins: libraries that it loads itself, programs that
 * it executes. By the names that its files need of others, or have. Callable from any thread.
 */
#ifndef GAIT_CLI_LATER_CODE_H
#define GAIT_CLI_LATER_CODE_H

#include <stdbool.h>
#include <stddef.h>

struct elf_symbols;
struct program_files;

struct later_code {
    bool has_libraries; /* may be loaded */
    bool has_programs;  /* may be executed */
};

/* What the symbols of a program or library say; adds to what others said. */
void later_code_add(struct later_code *later, const struct elf_symbols *symbols);

/*
 * A program that has little code of its own, for a library of its name has it, or one that it loads. Writes what to
 * hook instead, as "libruby*:*"; false: it is no such program.
 */
bool later_code_of_launcher(const struct program_files *files, char *text_out, size_t text_bytes);

#endif

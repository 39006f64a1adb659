/* SPDX-License-Identifier: MIT */
/*
 * Symbols of a program or library that are not in its own tables: of the separate file with debug information that has
 * the same build ID, or packed in the section .gnu_debugdata. One thread at a time.
 */
#ifndef GAIT_SYMBOLIZE_DEBUG_FILE_H
#define GAIT_SYMBOLIZE_DEBUG_FILE_H

#include "base/attributes.h"
#include "elf/symbol_file.h"

/* Where debug information is if nobody says something else. */
#define DEBUG_FILE_FOLDERS "/usr/lib/debug"

struct debug_file {
    struct elf_symbols symbols; /* only names: there is no code */
    struct symbol_file file;
    uint8_t *unpacked;
};

/*
 * Finds it by the contents of the program or library; `folders` are paths with colons between them, in which .build-id
 * is looked for. -ENOENT: there is none.
 */
MUST_USE int debug_file_open(const struct elf_symbols *symbols, const char *folders, struct debug_file *debug_out);
/*
 * The same by the name that the file at that path has for it, beside it, in .debug there, or in the folders below a
 * folder with the same path. Only where both have the same build ID.
 */
MUST_USE int debug_file_open_named(const struct elf_symbols *symbols, const char *path, const char *folders,
                                   struct debug_file *debug_out);
void debug_file_close(struct debug_file *debug);

#endif

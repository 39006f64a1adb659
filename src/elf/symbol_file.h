/* SPDX-License-Identifier: MIT */
/*
 * The names in an ELF file on disk. Only headers, notes, symbol tables and names of sections are read, into memory of
 * our own: a file that is cut off meanwhile is an error, no fault. Raw system calls, no locks, no libc; callable
 * from any thread and inside the target.
 */
#ifndef GAIT_ELF_SYMBOL_FILE_H
#define GAIT_ELF_SYMBOL_FILE_H

#include "base/attributes.h"
#include "elf/symbols.h"

#include <stddef.h>

struct symbol_file {
    struct elf_symbols symbols; /* of its bytes; code is not read, and reads as zeroes */
    void *memory;
    size_t size_bytes;
};

/*
 * Opens and reads it. The caller owns what is read, and gives it back with symbol_file_close. -ENOEXEC: no 64-bit ELF
 * file, or one with something wrong in it; -ENOENT, -EACCES, -EIO, -ENOMEM and others: it cannot be read.
 */
MUST_USE int symbol_file_open(const char *path, struct symbol_file *file_out);

/* The same, with what is loaded when the program runs: code too, but no debug information. */
MUST_USE int symbol_file_open_loaded(const char *path, struct symbol_file *file_out);

/* The same, with all of the file's bytes. */
MUST_USE int symbol_file_open_whole(const char *path, struct symbol_file *file_out);

void symbol_file_close(struct symbol_file *file);

#endif

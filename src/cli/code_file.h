/* SPDX-License-Identifier: MIT */
/*
 * A program or library that is looked at, and excerpts of its code. The file is read into memory, so that nobody can
 * change it meanwhile. One thread at a time.
 */
#ifndef GAIT_CLI_CODE_FILE_H
#define GAIT_CLI_CODE_FILE_H

#include "base/attributes.h"
#include "elf/symbols.h"
#include "gait/error.h"

struct arch;

#define CODE_FILE_PATH_BYTES 4096

struct code_file {
    char path[CODE_FILE_PATH_BYTES]; /* what was opened */
    uint8_t *bytes;
    struct elf_symbols symbols;
    const struct arch *arch;
};

/* Code in a file: bytes that are understood at an address. */
struct code_excerpt {
    const uint8_t *bytes; /* in the file's memory */
    uint64_t size_bytes;
    uint64_t address;
    char name[256]; /* of the function it is, or is in; empty: unknown */
    bool is_resolver;
};

/*
 * Opens a file by its path or, without a / in it, a library by its name in the usual directories. To be closed by
 * code_file_close(). Errors are explained: no such file, no permission, no ELF file, another CPU.
 */
MUST_USE int code_file_open(const char *name, struct code_file *file_out, struct gait_error *err);

/* Gives the memory back; excerpts are void then. */
void code_file_close(struct code_file *file);

/*
 * Finds code by "0xADDRESS", "0xADDRESS+SIZE", or a function as people spell it (symbolize/function_spelling.h). Errors
 * are explained, with the nearest names.
 */
MUST_USE int code_file_find(const struct code_file *file, const char *where, struct code_excerpt *excerpt_out,
                            struct gait_error *err);

/* The same, of several functions that are meant the one at `which`. -ENOENT, for one but the first: there is none. */
MUST_USE int code_file_find_next(const struct code_file *file, const char *where, size_t which,
                                 struct code_excerpt *excerpt_out, struct gait_error *err);

/*
 * Opens a file and finds code in it: names are both. `what` is to be done with that code, which must be of the CPU that
 * runs us, for errors.
 */
MUST_USE int code_file_open_for_host(const char *const names[2], const char *what, struct code_file *file_out,
                                     struct code_excerpt *excerpt_out, struct gait_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Functions of programs and libraries on disk, as the kernel wants them named to watch them: by the place of their code
 * in the file. One thread at a time.
 */
#ifndef GAIT_KERNEL_USER_CODE_H
#define GAIT_KERNEL_USER_CODE_H

#include "base/attributes.h"
#include "elf/symbol_file.h"
#include "gait/error.h"
#include "symbolize/debug_file.h"

#include <limits.h>
#include <stdint.h>

struct user_code {
    char path[PATH_MAX]; /* without links */
    struct symbol_file file;
    struct debug_file debug; /* without symbols, if there is none */
};

struct user_function {
    const char *name; /* not ended by a NUL */
    size_t name_length;
    uint64_t address;
    uint64_t file_offset;
};

/*
 * Opens a file by its path; without a / in it, a program as a shell would find it, or a library in the usual
 * directories, whose name may lack its end: "libc". Explains errors.
 */
MUST_USE int user_code_open(const char *name, struct user_code *code_out, struct gait_error *err);
void user_code_close(struct user_code *code);

/* -ENOENT: there is no function of that name. */
MUST_USE int user_code_find(const struct user_code *code, const char *name, struct user_function *function_out);

/* Where the code of an address is in the file. -ENOENT: there is none. */
MUST_USE int user_code_place(const struct user_code *code, uint64_t address, uint64_t *file_offset_out);

/*
 * Calls visit for each function that is meant (symbolize/function_spelling.h); places that are no function's beginning
 * have an empty name. Another result than 0 ends it.
 */
MUST_USE int user_code_list(const struct user_code *code, const char *pattern,
                            int (*visit)(void *context, const struct user_function *function), void *context);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The functions of a program or library that somebody means, however they are spelled: by names of its symbol tables
 * and of those of its separate file with debug information, by addresses, by lines of its source. One thread at a time.
 */
#ifndef GAIT_SYMBOLIZE_SPELLED_FUNCTIONS_H
#define GAIT_SYMBOLIZE_SPELLED_FUNCTIONS_H

#include "base/attributes.h"
#include "elf/function_list.h"
#include "symbolize/debug_file.h"
#include "symbolize/function_spelling.h"

#include <stdbool.h>
#include <stdint.h>

/* A file that is looked into. */
struct spelled_file {
    const char *path;
    const struct elf_symbols *symbols; /* its own, */
    const struct elf_symbols *names;   /* and those of its separate file; NULL: there are none */
    struct symbol_file file;           /* what they are of, if nobody else has them */
    struct debug_file debug;
    struct eh_frame frame;
    struct elf_function_list functions; /* of all that it has; made when an address is looked for */
    bool has_functions;
};

/* A function that is meant. */
struct spelled_one {
    uint64_t start; /* addresses are as the file has them */
    uint64_t at;    /* what was typed, if that is in the middle of it */
    const char
        *name; /* as its linker has it, not ended by a NUL; NULL: it has none; stays as long as the file is open */
    size_t name_length;
    bool is_linkers;  /* it was spelled as linkers do, and in the file's own tables */
    bool is_resolver; /* it only chooses the function, when the program starts */
    uint32_t line;    /* of the source, which has code: the one that was meant, or the next; 0: it was not by a line */
};

struct spelled_list {
    struct spelled_one *ones; /* each once, by start */
    size_t count;
    size_t capacity;
};

/* The path must stay, and the file where it is. Errors as symbol_file_open. */
MUST_USE int spelled_file_open(struct spelled_file *file, const char *path);
/* The same with symbols that somebody else has opened, and closes later; names may be NULL. */
void spelled_file_borrow(struct spelled_file *file, const char *path, const struct elf_symbols *symbols,
                         const struct elf_symbols *names);
void spelled_file_close(struct spelled_file *file);

/* What is meant in that file, whatever module the spelling names. -ENOENT: nothing is; -ENOMEM. */
MUST_USE int spelled_functions_find(struct spelled_file *file, const struct function_spelling *spelling,
                                    struct spelled_list *list_out);

/* Addresses of code that come from the line of a source that is meant, the first of each run, in `at`. As above. */
MUST_USE int spelled_lines_find(const char *path, const struct function_spelling *spelling,
                                struct spelled_list *list_out);

void spelled_list_deinit(struct spelled_list *list);

/* Offers all names of functions, as people write them, to who looks for the nearest. */
void spelled_file_offer(const struct spelled_file *file, void (*offer)(void *context, const char *name, size_t length),
                        void *context);

#endif

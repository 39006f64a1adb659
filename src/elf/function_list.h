/* SPDX-License-Identifier: MIT */
/*
 * All functions of a 64-bit ELF file, as a span of bytes: those of .symtab and .dynsym, and those that only .eh_frame
 * knows of. Sorted by address, one entry a function however many names it has. Nothing in the bytes is trusted. The
 * list is in the caller's memory and its names point into the file's bytes, which must not change. No system calls, no
 * locks, no libc; usable anywhere.
 */
#ifndef GAIT_ELF_FUNCTION_LIST_H
#define GAIT_ELF_FUNCTION_LIST_H

#include "base/attributes.h"
#include "elf/eh_frame.h"
#include "elf/symbols.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_function {
    uint64_t start;      /* addresses are as in the file */
    uint64_t size_bytes; /* 0: not known; never beyond its span of code */
    uint64_t
        covered_end;  /* of this one and all that start before it, whatever ends last; without size: the next start */
    const char *name; /* the plainest one; not ended by a NUL; NULL: it has none */
    uint32_t name_length;
    uint32_t frame_offset; /* where .eh_frame describes it from its start on, plus 1; 0: nowhere */
    bool is_resolver;      /* its code finds the function to use when the program starts */
    bool is_part;          /* no function: the seldom used part of one, which is jumped to */
    bool is_label;         /* a name for code that is not marked as a function: it has neither type nor size */
};

struct elf_function_list {
    struct elf_function *functions; /* by start */
    size_t count;
    size_t capacity;
};

/*
 * How many entries suffice for that file: those of its symbol tables and of .eh_frame (bytes NULL: there is none).
 * Those of further symbols come in addition: elf_symbols_count().
 */
size_t elf_function_list_capacity(const struct elf_symbols *symbols, const struct eh_frame *frame);

/* Where .eh_frame is in a file, by its program headers. -ENOENT: it has none. */
MUST_USE int elf_function_list_frame(const struct elf_symbols *symbols, struct eh_frame *frame_out);

/*
 * Fills a list whose memory is the caller's, which sets functions and capacity. `names` are further symbols, of a file
 * with debug information about this one, or NULL. -ENOSPC: it is too small.
 */
MUST_USE int elf_function_list_fill(struct elf_function_list *list, const struct elf_symbols *symbols,
                                    const struct elf_symbols *names, const struct eh_frame *frame);

/* The function that an address is in; between functions: the one before it. NULL: none is before it. */
const struct elf_function *elf_function_list_find(const struct elf_function_list *list, uint64_t address);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * All that the symbol tables of an ELF file have, data and names that others define too, as they stand there. Nothing
 * in the bytes is trusted. No system calls, no locks, no libc; usable anywhere. Neighbour: symbols.h, which is about
 * code.
 */
#ifndef GAIT_ELF_SYMBOL_ENTRIES_H
#define GAIT_ELF_SYMBOL_ENTRIES_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_symbols;

struct elf_symbol_entry {
    uint64_t address; /* as in the file; of thread storage, where in it */
    uint64_t size_bytes;
    unsigned kind;    /* STT_* */
    unsigned binding; /* STB_* */
    unsigned section; /* SHN_*, or a number; 0: others define it */
    bool is_dynamic;  /* of .dynsym: the loader sees it */
    const char *name; /* points into the file; not ended by a NUL where a version follows */
    size_t name_length;
};

/* Entry number `which` of elf_symbols_count(). -ENOENT: there is none, or it has no name. */
MUST_USE int elf_symbol_entry_get(const struct elf_symbols *symbols, uint64_t which,
                                  struct elf_symbol_entry *entry_out);

/* The first one with that name that the file defines. -ENOENT. */
MUST_USE int elf_symbol_entry_find(const struct elf_symbols *symbols, const char *name,
                                   struct elf_symbol_entry *entry_out);

#endif

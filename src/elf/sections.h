/* SPDX-License-Identifier: MIT */
/*
 * The sections of an ELF file, by their headers. Nothing in the bytes is trusted. No system calls, no locks, no libc;
 * usable anywhere.
 */
#ifndef GAIT_ELF_SECTIONS_H
#define GAIT_ELF_SECTIONS_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>

struct elf_symbols;

struct elf_section {
    const char *name; /* points into the file, ended by a NUL; "" if it has none */
    size_t name_length;
    uint64_t address; /* as in the file; 0: it is not loaded */
    uint64_t size_bytes;
    uint64_t file_offset;
    unsigned type;        /* SHT_* */
    uint64_t flags;       /* SHF_* */
    uint64_t entry_bytes; /* of a table; 0: it is none */
};

/* How many there are. */
unsigned elf_sections_count(const struct elf_symbols *symbols);

/* Section number `which`. -ENOENT: there is none. */
MUST_USE int elf_section_get(const struct elf_symbols *symbols, unsigned which, struct elf_section *section_out);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The names that a loaded image has for others, out of its dynamic section in memory: for images without a file (the
 * vdso), or whose file is not the one that was loaded. Nothing in memory is trusted. No locks, no libc; usable
 * anywhere.
 */
#ifndef GAIT_ELF_LOADED_SYMBOLS_H
#define GAIT_ELF_LOADED_SYMBOLS_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_loaded_image;
struct elf_memory;

/* Longer names are left out. */
#define ELF_LOADED_NAME_BYTES 512u

struct elf_loaded_symbol {
    uint64_t address; /* in memory; 0: another module defines it */
    uint64_t size_bytes;
    unsigned kind;    /* STT_* */
    unsigned binding; /* STB_* */
    const char *name; /* ended by a NUL; good during the visit */
    size_t name_length;
};

/* Visits them all; false ends it. -ENOENT: there are none, or it cannot be known how many. */
MUST_USE int elf_loaded_symbols_visit(const struct elf_memory *memory, const struct elf_loaded_image *image,
                                      bool (*visit)(void *context, const struct elf_loaded_symbol *symbol),
                                      void *context);

/*
 * Reads a name that is at most bytes_max long. Its length; 0: it cannot be read, has no end, is empty or too long.
 */
size_t elf_loaded_name_read(const struct elf_memory *memory, uint64_t address, uint64_t bytes_max,
                            char name_out[ELF_LOADED_NAME_BYTES]);

/* The address of a name that the image defines. -ENOENT. */
MUST_USE int elf_loaded_symbols_find(const struct elf_memory *memory, const struct elf_loaded_image *image,
                                     const char *name, uint64_t *address_out);

#endif

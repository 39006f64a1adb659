/* SPDX-License-Identifier: MIT */
/*
 * What a loaded image wants from others: the slots in memory that the loader fills with addresses, by its dynamic
 * section. Nothing in memory is trusted. No locks, no libc; usable anywhere.
 */
#ifndef GAIT_ELF_LOADED_IMPORTS_H
#define GAIT_ELF_LOADED_IMPORTS_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_loaded_image;
struct elf_memory;

struct elf_loaded_import {
    const char *name; /* ended by a NUL; good during the visit */
    size_t name_length;
    uint64_t slot;   /* where in memory the address is put */
    uint64_t target; /* what is there now: before the first call of a function, perhaps the way to the loader */
    bool is_call;    /* of the procedure linkage table */
    bool is_own;     /* the image defines the name itself, and lets others take its place */
};

/* Visits them all; false ends it. -ENOENT: there are none. */
MUST_USE int elf_loaded_imports_visit(const struct elf_memory *memory, const struct elf_loaded_image *image,
                                      bool (*visit)(void *context, const struct elf_loaded_import *import),
                                      void *context);

#endif

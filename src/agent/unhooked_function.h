/* SPDX-License-Identifier: MIT */
/* Tells readers of a ring of a function that should have been hooked, and is not. No lock, no memory. */
#ifndef GAIT_AGENT_UNHOOKED_FUNCTION_H
#define GAIT_AGENT_UNHOOKED_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

struct elf_symbols;
struct mapping;
struct ring_region;

struct unhooked_function {
    const struct mapping *mapping;     /* of the module that it is in */
    const struct elf_symbols *symbols; /* of its file */
    uint64_t address;                  /* as the file has it */
    const char *name;                  /* NULL: that of the symbol there */
    bool is_named;                     /* as struct ring_unhooked has it */
    const char *why;
};

void unhooked_function_tell(struct ring_region *ring, const struct unhooked_function *function);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The stubs through which a program or library calls others. They have no names of their own: they jump to where a slot
 * points that the dynamic linker fills, so they are called after what the slot is for. Callable from any thread.
 */
#ifndef GAIT_SYMBOLIZE_STUB_NAMES_H
#define GAIT_SYMBOLIZE_STUB_NAMES_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>

struct elf_symbols;

struct named_stub {
    uint64_t address;
    uint64_t size_bytes;
    const char *name; /* of what is called; points into the file, and is not ended by a NUL */
    size_t name_length;
};

struct stub_names {
    struct named_stub *stubs; /* by address */
    size_t count;
};

/*
 * Finds all; the bytes of the sections with stubs and relocations must be there. A file without sections, or of a CPU
 * that is not known, has none. -ENOMEM.
 */
MUST_USE int stub_names_make(struct stub_names *names, const struct elf_symbols *symbols);
void stub_names_deinit(struct stub_names *names);

#endif

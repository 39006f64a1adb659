/* SPDX-License-Identifier: MIT */
/*
 * What an ELF file wants from others: the slots that the dynamic linker fills with addresses, and the names that it
 * looks up for them. The bytes may come from anywhere: nothing in them is trusted. No system calls, no locks, no libc;
 * usable anywhere.
 */
#ifndef GAIT_ELF_IMPORTS_H
#define GAIT_ELF_IMPORTS_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>

struct elf_symbols;

/*
 * The name whose address goes into the slot at that address of the file. It points into the file and is not ended by a
 * NUL where a version follows. Looks at all slots. -ENOENT: none is there, or it has no name.
 */
MUST_USE int elf_imports_find(const struct elf_symbols *symbols, uint64_t slot, const char **name_out,
                              size_t *length_out);

/* The name of a dynamic symbol, by the number that relocations call it; as above. -ENOENT: it has none. */
MUST_USE int elf_imports_name(const struct elf_symbols *symbols, uint64_t which, const char **name_out,
                              size_t *length_out);

#endif

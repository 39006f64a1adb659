/* SPDX-License-Identifier: MIT */
/*
 * Addresses that the loader puts into the memory of an ELF file: relocations that need no symbol. Nothing in the bytes
 * is trusted. No system calls, no locks, no libc; usable anywhere.
 */
#ifndef GAIT_ELF_CODE_POINTERS_H
#define GAIT_ELF_CODE_POINTERS_H

#include "elf/symbols.h"

/* Calls take with each address that is in code, as it is in the file. Those that are in their place already are not
 * told. */
void elf_code_pointers_visit(const struct elf_symbols *symbols, void (*take)(void *context, uint64_t address),
                             void *context);

#endif

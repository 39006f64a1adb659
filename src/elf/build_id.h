/* SPDX-License-Identifier: MIT */
/*
 * The build ID of an ELF file: the linker's name for exactly these contents. The bytes may come from anywhere: nothing
 * in them is trusted. No system calls, no locks, no libc; usable anywhere.
 */
#ifndef GAIT_ELF_BUILD_ID_H
#define GAIT_ELF_BUILD_ID_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>

struct elf_symbols;

/* Where it is, in the bytes of the file. -ENOENT: it has none. */
MUST_USE int elf_build_id_find(const struct elf_symbols *symbols, const uint8_t **bytes_out, size_t *size_out);

#endif

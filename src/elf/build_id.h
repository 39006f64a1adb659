/* SPDX-License-Identifier: MIT */
/*
 * The build ID of an ELF file: the linker's name for exactly these contents. The bytes may come from anywhere: nothing
 * in them is trusted. No system calls, no locks, no libc; usable anywhere.
 */
#ifndef GAIT_ELF_BUILD_ID_H
#define GAIT_ELF_BUILD_ID_H

#include "base/attributes.h"
#include "elf/elf_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_symbols;

/* Where it is, in the bytes of the file. -ENOENT: it has none. */
MUST_USE int elf_build_id_find(const struct elf_symbols *symbols, const uint8_t **bytes_out, size_t *size_out);

/*
 * The one of an image that is loaded, whose ELF header is at that address: at most capacity bytes of it. -ENOENT: it
 * has none, a longer one, or there is no image.
 */
MUST_USE int elf_build_id_read(const struct elf_memory *memory, uint64_t header_address, uint8_t *bytes_out,
                               size_t capacity, size_t *size_out);

#endif

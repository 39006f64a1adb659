/* SPDX-License-Identifier: MIT */
/*
 * A 64-bit ELF image that is loaded, as its program headers in memory describe it. Neither they nor the memory
 * can be trusted to be there. No system calls but the reader's, no locks, no libc; usable anywhere.
 */
#ifndef GAIT_ELF_LOADED_IMAGE_H
#define GAIT_ELF_LOADED_IMAGE_H

#include "base/attributes.h"
#include "elf/elf_memory.h"

#include <stdint.h>

#define ELF_LOADED_SEGMENTS_MAX 16u

struct elf_loaded_segment {
    uint64_t start; /* in memory, as the headers say: not rounded to pages */
    uint64_t end;
    uint64_t file_offset;
    uint64_t file_bytes;
    unsigned access; /* enum memory_access; what is read-only once relocated is as it is before */
};

struct elf_loaded_image {
    uint64_t base; /* where its ELF header is */
    uint64_t end;  /* of the last segment, rounded up to pages */
    uint64_t bias; /* from addresses in the file to those in memory */
    uint64_t entry;
    uint64_t dynamic; /* 0: it has no dynamic section */
    uint64_t dynamic_bytes;
    unsigned segment_count;
    struct elf_loaded_segment segments[ELF_LOADED_SEGMENTS_MAX];
};

/*
 * -ENOEXEC: no 64-bit ELF header is there, or its program headers make no sense; -EFAULT: they cannot be read.
 */
MUST_USE int elf_loaded_image_read(const struct elf_memory *memory, uint64_t header_address,
                                   struct elf_loaded_image *image_out);

/*
 * The value of an entry (DT_*) of the dynamic section, and where in memory it is (may be NULL). -ENOENT: there is none.
 */
MUST_USE int elf_loaded_image_dynamic(const struct elf_memory *memory, const struct elf_loaded_image *image,
                                      uint64_t tag, uint64_t *value_out, uint64_t *place_out);

/* The same of an address, which loaders may have changed to one in memory or not. */
MUST_USE int elf_loaded_image_dynamic_address(const struct elf_memory *memory, const struct elf_loaded_image *image,
                                              uint64_t tag, uint64_t *address_out);

#endif

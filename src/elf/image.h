/* SPDX-License-Identifier: MIT */
/*
 * A 64-bit ELF image (ET_DYN) as a span of bytes: its segments, and the relocations that only need to know where the
 * image is. The bytes may come from anywhere: nothing in them is trusted, everything is bounds-checked, and what is
 * wrong gives -ENOEXEC. Nothing is owned: an elf_image points into the caller's bytes, which must not change. No system
 * calls, no locks, no libc; usable anywhere.
 */
#ifndef GAIT_ELF_IMAGE_H
#define GAIT_ELF_IMAGE_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_IMAGE_SEGMENTS_MAX 16

/* What one PT_LOAD describes. Addresses are as in the file: what they become is load address + address - low. */
struct elf_segment {
    uint64_t address;
    uint64_t memory_bytes;
    uint64_t file_offset;
    uint64_t file_bytes; /* the rest of the memory is zeroes */
    unsigned access;     /* enum memory_access */
};

/* A table somewhere in the image's memory. */
struct elf_span {
    uint64_t address;
    uint64_t size_bytes;
};

/* What is particular to a machine. */
struct elf_machine {
    unsigned number;              /* EM_* */
    uint32_t relative_relocation; /* the kind that adds the load address (R_*_RELATIVE) */
};

struct elf_image {
    const uint8_t *bytes;
    size_t size_bytes;
    struct elf_machine machine;
    uint64_t entry;                                      /* 0: none */
    uint64_t low;                                        /* first address, a multiple of the alignment */
    uint64_t high;                                       /* one past the last address */
    uint64_t alignment;                                  /* of the load address, a power of two */
    struct elf_segment segments[ELF_IMAGE_SEGMENTS_MAX]; /* by address, without overlap */
    size_t segment_count;
    struct elf_span relocations;        /* DT_RELA */
    struct elf_span packed_relocations; /* DT_RELR */
    struct elf_span read_only;          /* PT_GNU_RELRO: read-only once relocated */
    size_t needed_count;                /* DT_NEEDED: libraries it wants */
    bool has_other_relocations;         /* DT_REL or DT_JMPREL, which are for symbols */
    bool has_thread_storage;            /* PT_TLS */
};

/*
 * Reads the headers and the dynamic section of an image for that machine (arch/abi.h). -ENOEXEC: it is none, or one
 * with something wrong in it.
 */
MUST_USE int elf_image_parse(const void *bytes, size_t size_bytes, struct elf_machine machine,
                             struct elf_image *image_out);

/*
 * Reads bytes at an address of the image, as they are before relocation. -ENOEXEC: not all of them are in one segment's
 * part of the file.
 */
MUST_USE int elf_image_read(const struct elf_image *image, uint64_t address, void *bytes_out, size_t size_bytes);

/* Whether the image can do without others: no libraries, no symbols, no thread storage. 0, or -ENOEXEC if it cannot.
 */
MUST_USE int elf_image_check_self_contained(const struct elf_image *image);

/* How many bytes the image takes in memory, from low to high. */
static inline uint64_t elf_image_span(const struct elf_image *image)
{
    return image->high - image->low;
}

/* A copy of some of the image: the bytes at `memory` stand for the addresses from `address` on. */
struct elf_part {
    uint64_t address;
    uint64_t size_bytes;
    uint8_t *memory;
};

/* Writes what the segments have there, and zeroes elsewhere. The part lies between low and high. */
void elf_image_copy(const struct elf_image *image, const struct elf_part *part);

/*
 * Relocates such a copy for an image that runs at load_address (that of low). -ENOEXEC: a relocation wants something
 * else than the load address, or points outside of the segments, or of the part; some of them may have been applied
 * then.
 */
MUST_USE int elf_image_relocate(const struct elf_image *image, const struct elf_part *part, uint64_t load_address);

#endif

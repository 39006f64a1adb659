/* SPDX-License-Identifier: MIT */
/*
 * An ELF image that needs nobody, mapped into this process and ready to run. The caller owns it and gives it back with
 * elf_image_unload. Raw system calls, no locks, no libc; callable from any thread.
 */
#ifndef GAIT_ELF_IMAGE_LOAD_H
#define GAIT_ELF_IMAGE_LOAD_H

#include "base/attributes.h"
#include "base/memory_map.h"

#include <stddef.h>
#include <stdint.h>

struct elf_image;

struct elf_loaded {
    uint8_t *start; /* where the image's address low is */
    size_t size_bytes;
    uint64_t entry; /* 0: none */
};

/*
 * Maps, copies, relocates and protects; `within` {0, 0}: anywhere. -ENOEXEC: the image is not self-contained, or its
 * segments share pages or are both writable and executable; -ENOMEM: no memory or no room in the range; -EINVAL: a
 * range, and an alignment over 64 KiB; -EACCES, -EPERM: the system lets nothing become executable.
 */
MUST_USE int elf_image_load(const struct elf_image *image, struct memory_range within, struct elf_loaded *loaded_out);

/* Unmaps it. Nobody may run in it or look at it any more. */
void elf_image_unload(struct elf_loaded *loaded);

#endif

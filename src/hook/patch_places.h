/* SPDX-License-Identifier: MIT */
/*
 * Bytes of the program's code that change together: each place with what stands there and what is to. Written window by
 * window, in the order of addresses, with one system call for all that is near each other, since threads stand still
 * meanwhile. No libc, no locks; usable inside the target. One thread.
 */
#ifndef GAIT_HOOK_PATCH_PLACES_H
#define GAIT_HOOK_PATCH_PLACES_H

#include "arch/engine.h"
#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct forced_memory;

struct patch_place {
    uint64_t address;
    uint8_t before[REDIRECT_BYTES_MAX];
    uint8_t after[REDIRECT_BYTES_MAX];
    uint32_t size_bytes;
    uint32_t change; /* whose it is: the user's number */
    bool is_hop;     /* not the place that is patched, but the one that it leads to */
};

struct patch_places {
    struct patch_place *places;
    size_t count;
    size_t capacity;
};

void patch_places_init(struct patch_places *places);
void patch_places_deinit(struct patch_places *places);

/* Makes room for that many in all. -ENOMEM. */
MUST_USE int patch_places_reserve(struct patch_places *places, size_t count);

/* There is room. */
void patch_places_add(struct patch_places *places, const struct patch_place *place);

/* By address. -EEXIST: two of them overlap. */
MUST_USE int patch_places_sort(struct patch_places *places);

/* The last one that begins at the address or before. NULL: none does. Sorted. */
const struct patch_place *patch_places_find(const struct patch_places *places, uint64_t address);

/* Whether what stands there is what was expected. -EFAULT: it cannot be read; -ESTALE: something else stands there. */
MUST_USE int patch_places_check(const struct patch_places *places, const struct forced_memory *memory);

/* Changes all of them, or none: errors as patch_places_check, and -EFAULT also where nobody may write. Sorted. */
MUST_USE int patch_places_write(const struct patch_places *places, const struct forced_memory *memory);

/* Brings back what stood there before. For who has written all of them. */
MUST_USE int patch_places_undo(const struct patch_places *places, const struct forced_memory *memory);

#endif

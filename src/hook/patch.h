/* SPDX-License-Identifier: MIT */
/*
 * A place in the program's code that is, or will be, overwritten so that it leads elsewhere. Filled by patch_prepare,
 * put in place and taken away again by transactions (hook/patch_transaction.h), which are the only ones to change it
 * then. Its memory is the user's and must stay as long as it is in place.
 */
#ifndef GAIT_HOOK_PATCH_H
#define GAIT_HOOK_PATCH_H

#include "base/attributes.h"
#include "hook/hook_plan.h"
#include "hook/redirector.h"
#include "hook/trampoline.h"

#include <stdbool.h>
#include <stdint.h>

struct forced_memory;

/* What is displaced, or overwritten with padding behind it. */
#define PATCH_ORIGINAL_BYTES_MAX DISPLACED_BYTES_MAX

struct patch {
    struct hook_plan plan;
    struct trampoline trampoline;               /* whoever makes the patch writes it */
    uint8_t original[PATCH_ORIGINAL_BYTES_MAX]; /* from plan.patch_at on */
    uint8_t hop_original[REDIRECT_BYTES_MAX];   /* from plan.hop_at on */
    struct redirect redirect;                   /* what stands there while it is in place */
    bool is_in_place;
};

/*
 * Begins a patch as planned, with the bytes that stand there now. -EFAULT: they cannot be read; -EINVAL: nothing that
 * can be patched is planned; -EOPNOTSUPP: not on this CPU.
 */
MUST_USE int patch_prepare(struct patch *patch, const struct hook_plan *plan, const struct forced_memory *memory);

/* How many bytes of `original` count. */
static inline uint32_t patch_original_bytes(const struct patch *patch)
{
    uint64_t displaced = patch->plan.displaced_end - patch->plan.patch_at;

    return displaced > patch->plan.patch_bytes ? (uint32_t)displaced : patch->plan.patch_bytes;
}

#endif

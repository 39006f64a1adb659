/* SPDX-License-Identifier: MIT */
/*
 * A place in the program's code that is, or will be, overwritten so that it leads elsewhere. Filled by patch_prepare,
 * put in place and taken away again by transactions (hook/patch_transaction.h), which are the only ones to change it
 * then. Its memory is the user's and must stay as long as it is in place.
 */
#ifndef GAIT_HOOK_PATCH_H
#define GAIT_HOOK_PATCH_H

#include "arch/engine.h"
#include "base/attributes.h"
#include "hook/hook_plan.h"
#include "hook/trampoline.h"

#include <stdbool.h>
#include <stdint.h>

struct forced_memory;

struct patch {
    struct hook_plan plan;
    struct trampoline trampoline;             /* whoever makes the patch writes it */
    uint8_t original[REDIRECT_BYTES_MAX];     /* plan.patch_bytes from plan.patch_at on */
    uint8_t hop_original[REDIRECT_BYTES_MAX]; /* plan.hop_bytes from plan.hop_at on */
    struct redirect redirect;                 /* what stands there while it is in place */
    bool is_in_place;
};

/*
 * Begins a patch as planned, with the bytes that stand there now. -EFAULT: they cannot be read; -EINVAL: nothing that
 * can be patched is planned; -EOPNOTSUPP: not on this CPU.
 */
MUST_USE int patch_prepare(struct patch *patch, const struct hook_plan *plan, const struct forced_memory *memory);

/*
 * The bytes of the instructions that the patch displaces, whether it is in place or not. `memory` may be NULL: then
 * they are read without a descriptor, which takes a right to read them. -EFAULT.
 */
MUST_USE int patch_read_displaced(const struct patch *patch, const struct forced_memory *memory,
                                  uint8_t displaced_out[HOOK_DISPLACED_BYTES_MAX]);

/* Where in the trampoline the copy of a displaced instruction begins. As both, and -ENOENT: none begins at pc. */
MUST_USE int patch_find_copy(const struct patch *patch, const struct forced_memory *memory, uint64_t pc,
                             uint64_t *copy_out);

/*
 * The displaced instruction whose copy is at an address in the trampoline. False: the copy does not begin there, or
 * what is displaced cannot be read; *original_out is as it was if none begins before.
 */
bool patch_find_original(const struct patch *patch, const struct forced_memory *memory, uint64_t pc,
                         uint64_t *original_out);

#endif

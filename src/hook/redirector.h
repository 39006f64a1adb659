/* SPDX-License-Identifier: MIT */
/*
 * The bytes that lead from a patched place to where it is to go: the contract that arch/<cpu>/hook fulfils for
 * patches. A line in redirectors.def and a `const struct hook_redirector redirector_<cpu>` make a CPU known. No libc,
 * no state; usable inside the target, from any thread.
 */
#ifndef GAIT_HOOK_REDIRECTOR_H
#define GAIT_HOOK_REDIRECTOR_H

#include "base/attributes.h"

#include <stdint.h>

struct code_writer;
struct hook_plan;

/* No patch, of one place, is longer on any CPU. */
#define REDIRECT_BYTES_MAX 16

/* What a patch writes, at one place or at two. */
struct redirect {
    uint8_t bytes[REDIRECT_BYTES_MAX]; /* plan.patch_bytes at plan.patch_at */
    uint8_t hop[REDIRECT_BYTES_MAX];   /* plan.hop_bytes at plan.hop_at */
};

struct hook_redirector {
    const char *cpu; /* as of host_cpu_name() */

    /* -ERANGE: the target cannot be reached from there; -EINVAL: not a method of this CPU. */
    int (*make)(const struct hook_plan *plan, uint64_t target, struct redirect *redirect_out);

    /* Writes a jump to any address at all, at most REDIRECT_BYTES_MAX long, that takes no register. */
    void (*jump)(struct code_writer *writer, uint64_t target);
};

/* Of the CPU that runs us; NULL: it cannot be patched yet. */
const struct hook_redirector *hook_redirector_host(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The instructions that a patch displaces, copied to where they can run: whoever goes to the trampoline has them
 * executed and then goes on behind them, as if nothing had been patched. Calls in it push the original return address,
 * so nobody ever returns into a trampoline. No libc, no locks; usable inside the target.
 */
#ifndef GAIT_HOOK_TRAMPOLINE_H
#define GAIT_HOOK_TRAMPOLINE_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

struct code_writer;
struct hook_plan;

/* The longest patch less one byte, and the longest instruction. */
#define DISPLACED_BYTES_MAX 20

/* No trampoline is longer. */
#define TRAMPOLINE_BYTES_MAX 512

struct trampoline {
    uint64_t start;
    uint64_t end;      /* behind its instructions */
    uint64_t original; /* what was displaced from here on */
    uint16_t
        copies[DISPLACED_BYTES_MAX]; /* for each byte: where the copy begins, plus 1; 0: no instruction begins there */
};

/*
 * Writes the copy of what the plan displaces; `displaced` has the bytes. -EOPNOTSUPP: one cannot be moved, or there is
 * no relocator for this CPU; -EILSEQ, -ENODATA: they are no instructions; -ENOSPC; -E2BIG: too many bytes.
 */
MUST_USE int trampoline_write(struct code_writer *writer, const struct hook_plan *plan, const uint8_t *displaced,
                              struct trampoline *trampoline_out);

/* Where the copy of the instruction at an address begins. False: none begins there. */
bool trampoline_copy_of(const struct trampoline *trampoline, uint64_t original, uint64_t *copy_out);

#endif

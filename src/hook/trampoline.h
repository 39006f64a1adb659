/* SPDX-License-Identifier: MIT */
/*
 * The instructions that a patch displaces, copied to where they can run: whoever goes to the trampoline has them
 * executed and then goes on behind them, as if nothing had been patched. Calls in it push the original return address,
 * so nobody ever returns into a trampoline. No libc, no locks; usable inside the target.
 */
#ifndef GAIT_HOOK_TRAMPOLINE_H
#define GAIT_HOOK_TRAMPOLINE_H

#include "base/attributes.h"
#include "hook/hook_plan.h"

#include <stdint.h>

struct code_writer;

/* No trampoline of that many displaced bytes is longer. */
#define TRAMPOLINE_BYTES(displaced_bytes) (256 + 16 * (displaced_bytes))
#define TRAMPOLINE_BYTES_MAX              TRAMPOLINE_BYTES(HOOK_DISPLACED_BYTES_MAX)

struct trampoline {
    uint64_t start;
    uint64_t end;
};

/*
 * Writes the copy of what the plan displaces; `displaced` has the bytes. -EOPNOTSUPP: one cannot be moved, or there is
 * no relocator for this CPU; -EILSEQ, -ENODATA: they are no instructions; -ENOSPC; -E2BIG: too many bytes.
 */
MUST_USE int trampoline_write(struct code_writer *writer, const struct hook_plan *plan, const uint8_t *displaced,
                              struct trampoline *trampoline_out);

/*
 * Where in the trampoline at `start`, which was made of the same, the copy of a displaced instruction begins. -ENOENT:
 * no instruction begins at that address.
 */
MUST_USE int trampoline_find_copy(uint64_t start, const struct hook_plan *plan, const uint8_t *displaced, uint64_t pc,
                                  uint64_t *copy_out);

#endif

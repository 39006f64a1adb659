/* SPDX-License-Identifier: MIT */
/*
 * What a patched system call leads to: the instructions that were overwritten before it, a look at what is to be done
 * about its number, the call, made between two gates or as it was, and the instructions behind it. Which of the places
 * in it stands for which of the program is known: threads can be moved from one to the other at any time. No libc, no
 * state; usable inside the target.
 */
#ifndef GAIT_HOOK_SYSTEM_CALL_STUB_H
#define GAIT_HOOK_SYSTEM_CALL_STUB_H

#include "base/attributes.h"
#include "hook/hook_plan.h"
#include "hook/system_call_gate.h"

#include <stdbool.h>
#include <stdint.h>

struct code_writer;
struct gait_cpu_context;

#define SYSTEM_CALL_STUB_BYTES_MAX 256

struct system_call_stub {
    uint64_t start; /* where it begins to know things */
    uint64_t entry; /* where the patch leads to */
    uint64_t end;
    struct system_call_knowledge knowledge;
};

struct system_call_stub_request {
    const struct hook_plan *plan;
    const uint8_t *displaced; /* the bytes from plan.patch_at to plan.displaced_end */
    const uint8_t *kinds;     /* system_call_kinds() */
    uint64_t enter_gate;
    uint64_t leave_gate;
};

/* Writes one. -EOPNOTSUPP: not on this CPU. A full writer is told by the writer. */
MUST_USE int system_call_stub_write(struct code_writer *writer, const struct hook_plan *plan, const uint8_t *displaced,
                                    struct system_call_stub *stub_out);

/*
 * Where a thread goes on in the stub that is at a place in what the patch displaces, or comes back from the kernel into
 * it. False: it can stay where it is.
 */
bool system_call_stub_find_copy(const struct system_call_stub *stub, const struct hook_plan *plan, uint64_t pc,
                                uint64_t *copy_out);

/*
 * Where in the program one goes on that is in the stub: before the call, waiting in it, or behind it. False: it is
 * somewhere in between, for a moment only.
 */
bool system_call_stub_find_original(const struct system_call_stub *stub, const struct hook_plan *plan, uint64_t pc,
                                    uint64_t *original_out);

/*
 * The same for whoever knows of no stub, and comes to a place where a signal has interrupted a thread: that of a stub
 * at its call or behind it, by what the stub knows of itself. No lock; nothing faults. False: it is no such place.
 */
bool system_call_stub_undo(uint64_t pc, uint64_t *original_out);

/*
 * The registers that the program had when it made the call, as far as its callers need them, as if a function had been
 * called instead of the kernel. -EOPNOTSUPP: not on this CPU.
 */
MUST_USE int system_call_stub_context(const struct system_call_frame *frame, struct gait_cpu_context *context_out);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Who called a function, as return addresses: the stack of a thread at the function's first instruction. Where hooks
 * have put addresses of theirs onto it, original ones are told. One for the process.
 */
#ifndef GAIT_AGENT_CALL_STACK_H
#define GAIT_AGENT_CALL_STACK_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call_stack_walker;
struct gait_cpu_context;
struct hooked_frames;

/* Before any other. `hooked` tells what hooks have changed; NULL: nothing. -ENOMEM, -ENOSYS: not on this CPU. */
MUST_USE int call_stack_begin(const struct hooked_frames *hooked);

/* Gives its memory back: no thread is followed any more. */
void call_stack_end(void);

/* Modules came or went: they are looked for again when a stack is taken next. Any thread, no lock. */
void call_stack_modules_changed(void);

/* In a child that was just forked. */
void call_stack_begin_in_child(void);

/* What a thread needs to walk its stack: the calling one's, with that stack pointer. NULL: there is no memory. */
struct call_stack_walker *call_stack_walker_acquire(uint64_t sp);

/* The thread needs it no more, or is not there. No lock. NULL is fine. */
void call_stack_walker_release(struct call_stack_walker *walker);

/*
 * Writes at most that many return addresses, the nearest caller's first, which is given: of the calling thread, with
 * the registers that it has where the function begins. Returns how many; *goes_on_out: there are more.
 */
size_t call_stack_take(struct call_stack_walker *walker, const struct gait_cpu_context *cpu, uint64_t return_address,
                       uint64_t *addresses_out, size_t capacity, bool *goes_on_out);

#endif

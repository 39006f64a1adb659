/* SPDX-License-Identifier: MIT */
/*
 * How an instruction can be hooked that need not be the first of a function; and those that make system calls. No libc,
 * no system calls; one thread a planner.
 */
#ifndef GAIT_HOOK_INSTRUCTION_PLAN_H
#define GAIT_HOOK_INSTRUCTION_PLAN_H

#include "base/attributes.h"
#include "hook/hook_plan.h"

/*
 * Plans the function that begins at an address, or the instruction there in the middle of one. What cannot be is
 * HOOK_IMPOSSIBLE. -EFAULT: the module has no bytes there; -EILSEQ: the address is within an instruction of a function
 * that is known.
 */
MUST_USE int hook_plan_address(struct hook_planner *planner, uint64_t address, struct hook_plan *plan_out);

/* The same for who wants to know of that instruction and of no call: also where a part begins that is jumped to. */
MUST_USE int hook_plan_instruction(struct hook_planner *planner, uint64_t address, struct hook_plan *plan_out);

/* Is told of each. */
typedef void (*hook_system_call_taker)(void *context, const struct hook_plan *plan);

/*
 * Plans how each instruction of the module that makes a system call can be made to lead elsewhere: address is the
 * instruction's; what is displaced around it, in [patch_at, displaced_end), does the same wherever it is copied to.
 * What cannot be, is HOOK_IMPOSSIBLE. Where signal handlers return to is HOOK_KNOWN_BY_BYTES. To be called before
 * functions are planned, which then keep off these bytes; the first ones of functions are left alone, if possible.
 */
void hook_planner_find_system_calls(struct hook_planner *planner, hook_system_call_taker take, void *context);

#endif

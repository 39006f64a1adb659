/* SPDX-License-Identifier: MIT */
/*
 * How an instruction can be hooked that need not be the first of a function. No libc, no system calls; one thread a
 * planner.
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

#endif

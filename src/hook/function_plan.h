/* SPDX-License-Identifier: MIT */
/* How a function's entry can be patched. No libc, no state. */
#ifndef GAIT_HOOK_FUNCTION_PLAN_H
#define GAIT_HOOK_FUNCTION_PLAN_H

struct elf_function;
struct hook_plan;
struct hook_planner;

/* Plans a function that is mapped and no part of one; the plan has its address and is impossible so far. */
void function_plan_make(struct hook_planner *planner, const struct elf_function *function, struct hook_plan *plan);

#endif

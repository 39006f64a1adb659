/* SPDX-License-Identifier: MIT */
/* How the instructions can be patched by which a function returns. No libc, no state. */
#ifndef GAIT_HOOK_GO_EXIT_PLAN_H
#define GAIT_HOOK_GO_EXIT_PLAN_H

#include "base/attributes.h"

#include <stddef.h>

struct elf_function;
struct hook_plan;
struct hook_planner;

/* Functions with more returns are left alone. */
#define EXIT_PLANS_MAX 64

/*
 * Plans all returns (EXIT_PLANS_MAX at most) of a function that has a plan, which stays as it is: the address of each
 * is that of the return, and what runs elsewhere begins before it. -EOPNOTSUPP: one of them cannot be patched, or there
 * is none; then nothing is planned. As hook_planner_plan, what is planned and not carried out is released.
 */
MUST_USE int exit_plans_make(struct hook_planner *planner, const struct elf_function *function,
                             const struct hook_plan *entry, struct hook_plan *plans_out, size_t *count_out);

void exit_plans_release(struct hook_planner *planner, const struct hook_plan *plans, size_t count);

#endif

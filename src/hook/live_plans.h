/* SPDX-License-Identifier: MIT */
/*
 * Plans for functions and instructions of this process, by the addresses that they have in memory. A module is read and
 * surveyed when it is first asked for, and then kept, since it knows which padding is given away. Code that belongs to
 * no file is looked at where it stands.
 *
 * Raw system calls, memory of its own, no libc; usable inside the target. One thread at a time: the caller has the
 * lock.
 */
#ifndef GAIT_HOOK_LIVE_PLANS_H
#define GAIT_HOOK_LIVE_PLANS_H

#include "base/attributes.h"
#include "base/list.h"
#include "hook/hook_plan.h"

#include <stdbool.h>
#include <stdint.h>

struct elf_function;

struct live_plans {
    struct list_node modules;
};

void live_plans_init(struct live_plans *plans);
void live_plans_deinit(struct live_plans *plans);

/*
 * How the function, or the instruction in the middle of one, at an address can be hooked. What cannot be is
 * HOOK_IMPOSSIBLE, with the obstacle. -EFAULT: nothing is mapped there; -EACCES: it is no code, or code that is shared
 * with others who would be patched too; -EILSEQ: the address is within an instruction of a function that is known;
 * -EOPNOTSUPP: not on this CPU yet; -ENOMEM; what reading the file gives.
 */
MUST_USE int live_plans_at(struct live_plans *plans, uint64_t address, struct hook_plan *plan_out);

/* A plan that is not carried out, or was undone. */
void live_plans_release(struct live_plans *plans, const struct hook_plan *plan);

/*
 * Plans all functions of the module around an address, by address, and calls visit with each plan. False: that one is
 * not wanted. Errors as live_plans_at.
 */
typedef bool (*live_plan_visit)(void *context, const struct elf_function *function, const struct hook_plan *plan);
MUST_USE int live_plans_module(struct live_plans *plans, uint64_t address, live_plan_visit visit, void *context);

#endif

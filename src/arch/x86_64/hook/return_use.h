/* SPDX-License-Identifier: MIT */
/* Whether a function looks at its own return address, and whether it goes back to its entry. No libc, no state. */
#ifndef GAIT_ARCH_X86_64_HOOK_RETURN_USE_H
#define GAIT_ARCH_X86_64_HOOK_RETURN_USE_H

struct elf_function;
struct hook_plan;
struct hook_planner;
struct hook_return_use;

/* Looks at all instructions of the function. */
void x86_return_use_find(const struct hook_planner *planner, const struct elf_function *function,
                         const struct hook_plan *plan, struct hook_return_use *use_out);

#endif

/* SPDX-License-Identifier: MIT */
/* Whether code need not be surveyed: the quick look that engine_hook.may_matter is. */
#ifndef GAIT_ARCH_X86_64_HOOK_BRANCH_HINTS_H
#define GAIT_ARCH_X86_64_HOOK_BRANCH_HINTS_H

#include <stdbool.h>

struct hook_code;
struct hook_planner;

bool x86_branch_hints_matter(const struct hook_planner *planner, const struct hook_code *code);

#endif

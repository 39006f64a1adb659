/* SPDX-License-Identifier: MIT */
/* Where code leads: branches, addresses that it computes, and tables of jumps. No libc, no state. */
#ifndef GAIT_ARCH_X86_64_HOOK_BRANCH_SURVEY_H
#define GAIT_ARCH_X86_64_HOOK_BRANCH_SURVEY_H

struct hook_code;
struct hook_planner;

/* As engine_hook.survey. */
void x86_branch_survey(struct hook_planner *planner, const struct hook_code *code);

#endif

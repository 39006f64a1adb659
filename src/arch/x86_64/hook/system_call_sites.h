/* SPDX-License-Identifier: MIT */
/* Instructions that make system calls, and how to get a jump into their place. No libc, no state. */
#ifndef GAIT_ARCH_X86_64_HOOK_SYSTEM_CALL_SITES_H
#define GAIT_ARCH_X86_64_HOOK_SYSTEM_CALL_SITES_H

#include "hook/hook_plan.h"

struct hook_code;

/* As engine_hook.find_system_calls. */
void x86_system_call_sites_mark(struct hook_planner *planner, const struct hook_code *code);

void x86_system_call_sites_find(struct hook_planner *planner, const struct hook_code *code, hook_system_call_taker take,
                                void *context);

#endif

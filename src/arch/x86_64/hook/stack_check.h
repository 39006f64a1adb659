/* SPDX-License-Identifier: MIT */
/* The check for room on the stack that Go's compiler begins functions with. No libc, no state. */
#ifndef GAIT_ARCH_X86_64_HOOK_STACK_CHECK_H
#define GAIT_ARCH_X86_64_HOOK_STACK_CHECK_H

#include <stdint.h>

struct hook_code;
struct hook_planner;

/* As engine_hook.find_stack_check. */
uint64_t x86_stack_check_find(const struct hook_planner *planner, const struct hook_code *code, uint64_t function_end);

#endif

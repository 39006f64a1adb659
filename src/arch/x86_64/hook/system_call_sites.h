/* SPDX-License-Identifier: MIT */
/* Instructions that make system calls. No libc, no state. */
#ifndef GAIT_ARCH_X86_64_HOOK_SYSTEM_CALL_SITES_H
#define GAIT_ARCH_X86_64_HOOK_SYSTEM_CALL_SITES_H

#include <stdbool.h>
#include <stdint.h>

struct hook_code;

/* As struct engine_hook has them. */
uint64_t x86_system_call_next(const struct hook_code *code, uint64_t from);
bool x86_system_call_is_known(const struct hook_code *code, uint64_t before, uint64_t at);

#endif

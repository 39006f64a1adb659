/* SPDX-License-Identifier: MIT */
/*
 * What the programs in the kernel are to read of a call's memory (system_call_program_layout.h), out of what is known
 * of the call. Where that depends on other arguments, more is read than may be needed: who writes the text asks for
 * what is there. Stateless.
 */
#ifndef GAIT_SYSCALLS_SYSTEM_CALL_PLAN_H
#define GAIT_SYSCALLS_SYSTEM_CALL_PLAN_H

#include "syscalls/system_call_program_layout.h"

#include <stdbool.h>
#include <stdint.h>

/* string_bytes: how much of strings and buffers is wanted, at most. Paths come whole. */
struct call_program_plan system_call_plan(uint64_t number, bool is_wanted, uint32_t string_bytes);

#endif

/* SPDX-License-Identifier: MIT */
/* The registers of a stopped thread that decide about its system call. For its tracer. */
#ifndef GAIT_SYSCALLS_PTRACE_REGISTERS_H
#define GAIT_SYSCALLS_PTRACE_REGISTERS_H

#include "base/attributes.h"

#include <stdint.h>

/* At the beginning of a call: makes the kernel leave it out. */
MUST_USE int ptrace_registers_skip_call(int tid);

/* At the end of a call: what the program gets as its result. */
MUST_USE int ptrace_registers_set_result(int tid, int64_t result);

/* At the end of a call that was left out, when nobody will be there to give it a result: it is made again. */
void ptrace_registers_undo_skip(int tid, uint64_t number);

#endif

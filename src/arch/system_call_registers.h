/* SPDX-License-Identifier: MIT */
/*
 * Letting a stopped thread make a system call: what its registers are before and after one instruction. Implemented
 * once for each CPU in arch/<cpu>/host. No libc, no locks, no state.
 */
#ifndef GAIT_ARCH_SYSTEM_CALL_REGISTERS_H
#define GAIT_ARCH_SYSTEM_CALL_REGISTERS_H

#include "arch/thread_registers.h"

#include <stddef.h>
#include <stdint.h>

/* The bytes of the instruction that makes a system call. */
const uint8_t *system_call_instruction(size_t *size_out);

/* Registers with which a thread makes the system call when it does the instruction at `place`. */
void system_call_registers_set(struct thread_registers *registers, uint64_t place, long number, const long *arguments);

/* What the kernel answered. */
long system_call_registers_result(const struct thread_registers *registers);

#endif

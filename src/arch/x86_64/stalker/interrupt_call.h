/* SPDX-License-Identifier: MIT */
/*
 * System calls that a program makes by `int $0x80`, as 32-bit programs do: what they are by the numbers and registers
 * of its own. Stateless.
 */
#ifndef GAIT_ARCH_X86_64_STALKER_INTERRUPT_CALL_H
#define GAIT_ARCH_X86_64_STALKER_INTERRUPT_CALL_H

#include "arch/engine.h"

/* The number in call_out is the program's unless the answer is FOREIGN_CALL_SAME. */
enum foreign_call x86_interrupt_call_get(const struct gait_cpu_context *cpu, struct system_call *call_out);

/* The instruction leaves rcx and r11 alone. */
void x86_interrupt_call_keep(struct gait_cpu_context *cpu, const struct gait_cpu_context *before);

#endif

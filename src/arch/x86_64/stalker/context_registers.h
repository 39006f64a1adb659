/* SPDX-License-Identifier: MIT */
/* System calls and calls in x86-64 registers. As translator.h has it. */
#ifndef GAIT_ARCH_X86_64_STALKER_CONTEXT_REGISTERS_H
#define GAIT_ARCH_X86_64_STALKER_CONTEXT_REGISTERS_H

#include "base/address.h"

#include <stdint.h>

struct gait_call;
struct gait_cpu_context;
struct system_call;
struct thread_registers;

void x86_system_call_get(const struct gait_cpu_context *cpu, struct system_call *call_out);
struct app_pc x86_system_call_next(const struct gait_cpu_context *cpu);
void x86_system_call_done(struct gait_cpu_context *cpu, long result);
long x86_system_call_result(const struct gait_cpu_context *cpu);
struct app_pc x86_system_call_behind(const struct gait_cpu_context *cpu);
uint64_t x86_stack_pointer(const struct gait_cpu_context *cpu);
void x86_set_stack_pointer(struct gait_cpu_context *cpu, uint64_t sp);
void x86_call_get(struct gait_cpu_context *cpu, struct gait_call *call_out);
void x86_call_arguments(const struct gait_cpu_context *cpu, uint64_t arguments_out[6]);
uint64_t x86_call_value(const struct gait_cpu_context *cpu);

void x86_registers_get(const struct thread_registers *registers, struct gait_cpu_context *cpu_out,
                       uint64_t *segment_base_out);
void x86_registers_set(struct thread_registers *registers, const struct gait_cpu_context *cpu, uint64_t segment_base);

#endif

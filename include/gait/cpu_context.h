/* SPDX-License-Identifier: MIT */
/*
 * The registers of a thread, as callouts, probes and listeners see them: what the program would have in them if nothing
 * followed it. Where the context is writable any register may be changed, the pc included; the thread goes on with
 * that.
 *
 * The struct is the same for all CPUs. The functions here read it by what a register is for, on the CPU that the
 * program is compiled for; headers with the names of CPUs read it by the names that these have for their registers.
 * Vectors, floating-point numbers and the thread pointer are asked for where they are needed: gait/cpu_registers.h.
 */
#ifndef GAIT_CPU_CONTEXT_H
#define GAIT_CPU_CONTEXT_H

#include "gait/cpu_numbers.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gait_cpu_context {
    /*
     * By the numbers that instructions have for them, which is the order of gait_register_name(). The stack pointer is
     * one of them, by the number GAIT_CPU_STACK_POINTER, and has no field of its own: code that saves, translates and
     * puts back registers by their numbers then needs no case for it.
     */
    uint64_t registers[GAIT_CPU_REGISTERS_MAX];
    uint64_t pc;
    uint64_t flags; /* as the CPU saves them */
};

static inline uint64_t gait_cpu_stack_pointer(const struct gait_cpu_context *cpu)
{
    return cpu->registers[GAIT_CPU_STACK_POINTER];
}

static inline void gait_cpu_stack_pointer_set(struct gait_cpu_context *cpu, uint64_t sp)
{
    cpu->registers[GAIT_CPU_STACK_POINTER] = sp;
}

/* Where a call left its return address, if that is in a register; 0: on this CPU it is on the stack. */
static inline uint64_t gait_cpu_link_register(const struct gait_cpu_context *cpu)
{
    return GAIT_CPU_LINK_REGISTER == GAIT_CPU_NO_REGISTER
               ? 0
               : cpu->registers[GAIT_CPU_LINK_REGISTER % GAIT_CPU_REGISTERS_MAX];
}

/* When a function is entered: where it returns to. Its stack must be readable where calls leave that on it. */
static inline uint64_t gait_cpu_return_address(const struct gait_cpu_context *cpu)
{
    return GAIT_CPU_LINK_REGISTER == GAIT_CPU_NO_REGISTER
               ? *(const uint64_t *)(uintptr_t)gait_cpu_stack_pointer(cpu)
               : gait_cpu_link_register(cpu);
}

/*
 * Where an argument of an integer or pointer type is, from 0 on, when a function is entered: in a register or on the
 * stack.
 */
static inline uint64_t *gait_cpu_argument_place(struct gait_cpu_context *cpu, unsigned number)
{
    static const uint8_t numbers[] = {GAIT_CPU_ARGUMENTS};

    if (number < GAIT_CPU_ARGUMENT_COUNT)
        return &cpu->registers[numbers[number]];
    return (uint64_t *)(uintptr_t)gait_cpu_stack_pointer(cpu) + GAIT_CPU_ARGUMENT_STACK_WORDS +
           (number - GAIT_CPU_ARGUMENT_COUNT);
}

static inline uint64_t gait_cpu_argument(const struct gait_cpu_context *cpu, unsigned number)
{
    return *gait_cpu_argument_place((struct gait_cpu_context *)(uintptr_t)cpu, number);
}

static inline void gait_cpu_argument_set(struct gait_cpu_context *cpu, unsigned number, uint64_t value)
{
    *gait_cpu_argument_place(cpu, number) = value;
}

/* What a function returns, if that is an integer or a pointer, when it has returned. */
static inline uint64_t gait_cpu_result(const struct gait_cpu_context *cpu)
{
    return cpu->registers[GAIT_CPU_RESULT];
}

static inline void gait_cpu_result_set(struct gait_cpu_context *cpu, uint64_t value)
{
    cpu->registers[GAIT_CPU_RESULT] = value;
}

#ifdef __cplusplus
}
#endif

#endif

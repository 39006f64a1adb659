/* SPDX-License-Identifier: MIT */
/*
 * The registers of arm64 by name. Each macro is an lvalue, or a constant one where the context is: gait_arm64_x(cpu,
 * 0)++. The functions are for registers that the context has no room for, and return what those of gait/cpu_registers.h
 * do. Compiles on any machine.
 */
#ifndef GAIT_ARM64_H
#define GAIT_ARM64_H

#include "gait/cpu_context.h"
#include "gait/cpu_registers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers in a context: x0 to x30 have theirs, and the stack pointer is behind them. */
#define GAIT_ARM64_FP             29
#define GAIT_ARM64_LR             30
#define GAIT_ARM64_SP             31
#define GAIT_ARM64_REGISTER_COUNT 32

#define gait_arm64_x(cpu, number) ((cpu)->registers[number]) /* 0 to 30 */
#define gait_arm64_fp(cpu)        ((cpu)->registers[GAIT_ARM64_FP])
#define gait_arm64_lr(cpu)        ((cpu)->registers[GAIT_ARM64_LR])
#define gait_arm64_sp(cpu)        ((cpu)->registers[GAIT_ARM64_SP])
#define gait_arm64_pc(cpu)        ((cpu)->pc)
#define gait_arm64_pstate(cpu)    ((cpu)->flags)

#define GAIT_ARM64_V_BYTES        16

/* Numbers of GAIT_REGISTER_CONTROL, of 8 bytes each. */
#define GAIT_ARM64_FPCR 0
#define GAIT_ARM64_FPSR 1

static inline int gait_arm64_v_get(const struct gait_cpu_context *cpu, unsigned number,
                                   uint8_t bytes_out[GAIT_ARM64_V_BYTES])
{
    return gait_cpu_register_get(cpu, GAIT_REGISTER_VECTOR, number, bytes_out, GAIT_ARM64_V_BYTES);
}

static inline int gait_arm64_v_set(struct gait_cpu_context *cpu, unsigned number,
                                   const uint8_t bytes[GAIT_ARM64_V_BYTES])
{
    return gait_cpu_register_set(cpu, GAIT_REGISTER_VECTOR, number, bytes, GAIT_ARM64_V_BYTES);
}

#ifdef __cplusplus
}
#endif

#endif

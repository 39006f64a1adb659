/* SPDX-License-Identifier: MIT */
/*
 * The registers of arm64 by name. Each macro is an lvalue, or a constant one where the context is: gait_arm64_x(cpu,
 * 0)++. Compiles on any machine.
 */
#ifndef GAIT_ARM64_H
#define GAIT_ARM64_H

#include "gait/cpu_context.h"

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

#endif

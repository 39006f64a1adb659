/* SPDX-License-Identifier: MIT */
/*
 * The registers of x86-64 by name. Each macro is an lvalue, or a constant one where the context is:
 * gait_x86_64_rax(cpu)++. Compiles on any machine.
 */
#ifndef GAIT_X86_64_H
#define GAIT_X86_64_H

#include "gait/cpu_context.h"

/* Their numbers in a context. */
enum gait_x86_64_register {
    GAIT_X86_64_RAX,
    GAIT_X86_64_RCX,
    GAIT_X86_64_RDX,
    GAIT_X86_64_RBX,
    GAIT_X86_64_RSP,
    GAIT_X86_64_RBP,
    GAIT_X86_64_RSI,
    GAIT_X86_64_RDI,
    GAIT_X86_64_R8,
    GAIT_X86_64_R9,
    GAIT_X86_64_R10,
    GAIT_X86_64_R11,
    GAIT_X86_64_R12,
    GAIT_X86_64_R13,
    GAIT_X86_64_R14,
    GAIT_X86_64_R15,
    GAIT_X86_64_REGISTER_COUNT,
};

#define gait_x86_64_rax(cpu)    ((cpu)->registers[GAIT_X86_64_RAX])
#define gait_x86_64_rcx(cpu)    ((cpu)->registers[GAIT_X86_64_RCX])
#define gait_x86_64_rdx(cpu)    ((cpu)->registers[GAIT_X86_64_RDX])
#define gait_x86_64_rbx(cpu)    ((cpu)->registers[GAIT_X86_64_RBX])
#define gait_x86_64_rsp(cpu)    ((cpu)->registers[GAIT_X86_64_RSP])
#define gait_x86_64_rbp(cpu)    ((cpu)->registers[GAIT_X86_64_RBP])
#define gait_x86_64_rsi(cpu)    ((cpu)->registers[GAIT_X86_64_RSI])
#define gait_x86_64_rdi(cpu)    ((cpu)->registers[GAIT_X86_64_RDI])
#define gait_x86_64_r8(cpu)     ((cpu)->registers[GAIT_X86_64_R8])
#define gait_x86_64_r9(cpu)     ((cpu)->registers[GAIT_X86_64_R9])
#define gait_x86_64_r10(cpu)    ((cpu)->registers[GAIT_X86_64_R10])
#define gait_x86_64_r11(cpu)    ((cpu)->registers[GAIT_X86_64_R11])
#define gait_x86_64_r12(cpu)    ((cpu)->registers[GAIT_X86_64_R12])
#define gait_x86_64_r13(cpu)    ((cpu)->registers[GAIT_X86_64_R13])
#define gait_x86_64_r14(cpu)    ((cpu)->registers[GAIT_X86_64_R14])
#define gait_x86_64_r15(cpu)    ((cpu)->registers[GAIT_X86_64_R15])

#define gait_x86_64_rip(cpu)    ((cpu)->pc)
#define gait_x86_64_rflags(cpu) ((cpu)->flags)

#endif

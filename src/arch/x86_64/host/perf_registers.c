/* SPDX-License-Identifier: MIT */
#include "arch/perf_registers.h"

#include <asm/perf_regs.h>
#include <asm/ptrace.h>

/* By the numbers that the machine has for them. */
static const struct perf_register registers[] = {
    {"rax", PERF_REG_X86_AX, offsetof(struct pt_regs, rax)},  {"rcx", PERF_REG_X86_CX, offsetof(struct pt_regs, rcx)},
    {"rdx", PERF_REG_X86_DX, offsetof(struct pt_regs, rdx)},  {"rbx", PERF_REG_X86_BX, offsetof(struct pt_regs, rbx)},
    {"rsp", PERF_REG_X86_SP, offsetof(struct pt_regs, rsp)},  {"rbp", PERF_REG_X86_BP, offsetof(struct pt_regs, rbp)},
    {"rsi", PERF_REG_X86_SI, offsetof(struct pt_regs, rsi)},  {"rdi", PERF_REG_X86_DI, offsetof(struct pt_regs, rdi)},
    {"r8", PERF_REG_X86_R8, offsetof(struct pt_regs, r8)},    {"r9", PERF_REG_X86_R9, offsetof(struct pt_regs, r9)},
    {"r10", PERF_REG_X86_R10, offsetof(struct pt_regs, r10)}, {"r11", PERF_REG_X86_R11, offsetof(struct pt_regs, r11)},
    {"r12", PERF_REG_X86_R12, offsetof(struct pt_regs, r12)}, {"r13", PERF_REG_X86_R13, offsetof(struct pt_regs, r13)},
    {"r14", PERF_REG_X86_R14, offsetof(struct pt_regs, r14)}, {"r15", PERF_REG_X86_R15, offsetof(struct pt_regs, r15)},
};

const struct perf_registers *perf_registers_host(void)
{
    static const struct perf_registers host = {
        .all = registers,
        .count = sizeof(registers) / sizeof(registers[0]),
        .arguments = {7, 6, 2, 1, 8, 9},
        .argument_count = 6,
        .result = 0,
        .pc_number = PERF_REG_X86_IP,
    };

    return &host;
}

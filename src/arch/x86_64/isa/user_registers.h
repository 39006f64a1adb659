/* SPDX-License-Identifier: MIT */
/*
 * struct thread_registers of arch/thread_registers.h by name, in the kernel's order (its user_regs_struct). Only a
 * layout: usable everywhere.
 */
#ifndef GAIT_ARCH_X86_64_ISA_USER_REGISTERS_H
#define GAIT_ARCH_X86_64_ISA_USER_REGISTERS_H

#include "arch/thread_registers.h"
#include "base/attributes.h"

#include <stdint.h>

struct x86_user_registers {
    uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8;
    uint64_t rax, rcx, rdx, rsi, rdi;
    uint64_t orig_rax; /* the system call's number; -1: in none, or none is to be begun again */
    uint64_t rip, cs, eflags, rsp, ss;
    uint64_t fs_base, gs_base;
    uint64_t ds, es, fs, gs;
} __attribute__((may_alias));

_Static_assert(sizeof(struct x86_user_registers) == 27 * 8, "as the kernel has it");
_Static_assert(sizeof(struct x86_user_registers) <= sizeof(struct thread_registers), "there is room for it");

UNSANITIZED static inline struct x86_user_registers *x86_user_registers(struct thread_registers *registers)
{
    return (struct x86_user_registers *)registers->words;
}

UNSANITIZED static inline const struct x86_user_registers *
x86_user_registers_const(const struct thread_registers *registers)
{
    return (const struct x86_user_registers *)registers->words;
}

#endif

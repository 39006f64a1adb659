/* SPDX-License-Identifier: MIT */
/*
 * Instructions that read and write an operand in one step: xchg, xadd, cmpxchg, and the lock prefix. See encoder.h for
 * the conventions.
 */
#ifndef GAIT_ARCH_X86_64_ISA_ENCODER_EXCHANGE_H
#define GAIT_ARCH_X86_64_ISA_ENCODER_EXCHANGE_H

#include "arch/x86_64/isa/encoder_operand.h"

struct code_writer;

enum x86_exchange {
    X86_XCHG,    /* always atomic in memory; leaves the flags alone */
    X86_XADD,    /* the register gets the old value, the other operand the sum */
    X86_CMPXCHG, /* against al, ax, eax or rax */
};

void x86_exchange_reg_reg(struct code_writer *writer, enum x86_exchange exchange, enum x86_size size,
                          enum x86_gpr destination, enum x86_gpr source);
void x86_exchange_mem_reg(struct code_writer *writer, enum x86_exchange exchange, enum x86_size size,
                          struct x86_mem destination, enum x86_gpr source);

/* Compares rdx:rax with 16 bytes, aligned to 16, and stores rcx:rbx if equal. */
void x86_cmpxchg16b(struct code_writer *writer, struct x86_mem destination);

/* Makes the next instruction atomic: an add, sub, and, or, xor, inc, xadd, cmpxchg... whose destination is memory. */
void x86_lock(struct code_writer *writer);

#endif

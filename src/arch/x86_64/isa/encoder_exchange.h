/* SPDX-License-Identifier: MIT */
/*
 * Instructions that read and write an operand in one step: xchg, xadd, cmpxchg. See encoder.h for the conventions.
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

void x86_exchange_mem_reg(struct code_writer *writer, enum x86_exchange exchange, enum x86_size size,
                          struct x86_mem destination, enum x86_gpr source);

#endif

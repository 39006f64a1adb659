/* SPDX-License-Identifier: MIT */
/*
 * Integer arithmetic and logic. All of it but not changes flags. See encoder.h for the conventions.
 */
#ifndef GAIT_ARCH_X86_64_ISA_ENCODER_ARITHMETIC_H
#define GAIT_ARCH_X86_64_ISA_ENCODER_ARITHMETIC_H

#include "arch/x86_64/isa/encoder_operand.h"

struct code_writer;

/* Operations of two operands, as the opcodes count them. */
enum x86_arithmetic {
    X86_ADD,
    X86_OR,
    X86_ADC,
    X86_SBB,
    X86_AND,
    X86_SUB,
    X86_XOR,
    X86_CMP,
};

void x86_arithmetic_reg_mem(struct code_writer *writer, enum x86_arithmetic operation, enum x86_size size,
                            enum x86_gpr destination, struct x86_mem source);

/* Operations of one operand. */
enum x86_unary {
    X86_INC, /* leaves the carry alone, as does dec */
    X86_DEC,
    X86_NOT, /* leaves all flags alone */
    X86_NEG,
    X86_MUL, /* rdx:rax = rax * operand; imul is the signed one */
    X86_IMUL,
    X86_DIV, /* rax, rdx = rdx:rax / operand; idiv is the signed one */
    X86_IDIV,
};

void x86_unary_reg(struct code_writer *writer, enum x86_unary operation, enum x86_size size, enum x86_gpr reg);
void x86_unary_mem(struct code_writer *writer, enum x86_unary operation, enum x86_size size, struct x86_mem memory);

#endif

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

/* Immediates take their shortest form; in 64 bits they must be sign-extended 32-bit ones. */
void x86_arithmetic_reg_reg(struct code_writer *writer, enum x86_arithmetic operation, enum x86_size size,
                            enum x86_gpr destination, enum x86_gpr source);
void x86_arithmetic_reg_mem(struct code_writer *writer, enum x86_arithmetic operation, enum x86_size size,
                            enum x86_gpr destination, struct x86_mem source);
void x86_arithmetic_mem_reg(struct code_writer *writer, enum x86_arithmetic operation, enum x86_size size,
                            struct x86_mem destination, enum x86_gpr source);
void x86_arithmetic_reg_imm(struct code_writer *writer, enum x86_arithmetic operation, enum x86_size size,
                            enum x86_gpr destination, int64_t value);
void x86_arithmetic_mem_imm(struct code_writer *writer, enum x86_arithmetic operation, enum x86_size size,
                            struct x86_mem destination, int64_t value);

/* And, for the flags only. */
void x86_test_reg_reg(struct code_writer *writer, enum x86_size size, enum x86_gpr left, enum x86_gpr right);
void x86_test_mem_reg(struct code_writer *writer, enum x86_size size, struct x86_mem left, enum x86_gpr right);
void x86_test_reg_imm(struct code_writer *writer, enum x86_size size, enum x86_gpr left, int64_t value);
void x86_test_mem_imm(struct code_writer *writer, enum x86_size size, struct x86_mem left, int64_t value);

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

/* Signed products of 16, 32 or 64 bits: destination *= source, or destination = source * value. */
void x86_imul_reg_reg(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, enum x86_gpr source);
void x86_imul_reg_mem(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, struct x86_mem source);
void x86_imul_reg_reg_imm(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, enum x86_gpr source,
                          int64_t value);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic that leaves the flags alone, of 32 or 64 bits: lea (encoder_move.h) for sums, and here the BMI2
 * instructions for the rest. Ask the CPU for BMI2 before running them. See encoder.h for the conventions.
 */
#ifndef GAIT_ARCH_X86_64_ISA_ENCODER_FLAG_FREE_H
#define GAIT_ARCH_X86_64_ISA_ENCODER_FLAG_FREE_H

#include "arch/x86_64/isa/encoder_operand.h"

struct code_writer;

/* Rotates right by a constant count. */
void x86_rorx_reg_reg(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, enum x86_gpr source,
                      uint8_t count);
void x86_rorx_reg_mem(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, struct x86_mem source,
                      uint8_t count);

/* Three operands: an operation on a source and a register. */
enum x86_flag_free {
    X86_SHLX, /* destination = source << with, of which the low 5 or 6 bits count */
    X86_SHRX,
    X86_SARX,
    X86_PDEP, /* spreads the low bits of with to where the source has ones */
    X86_PEXT, /* gathers the bits of with that the source has ones for */
    X86_MULX, /* destination:with = rdx * source; the high half wins where both are one register */
};

struct x86_flag_free_registers {
    enum x86_gpr destination;
    enum x86_gpr with;
};

void x86_flag_free_reg(struct code_writer *writer, enum x86_flag_free operation, enum x86_size size,
                       struct x86_flag_free_registers registers, enum x86_gpr source);
void x86_flag_free_mem(struct code_writer *writer, enum x86_flag_free operation, enum x86_size size,
                       struct x86_flag_free_registers registers, struct x86_mem source);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The few vector instructions that event code uses: moves between vector registers 0 to 15, general registers and
 * memory, of any alignment. Flags stay. See encoder.h for the conventions.
 */
#ifndef GAIT_ARCH_X86_64_ISA_ENCODER_VECTOR_H
#define GAIT_ARCH_X86_64_ISA_ENCODER_VECTOR_H

#include "arch/x86_64/isa/encoder_operand.h"

struct code_writer;

/* Moves between memory and a vector register. The legacy ones keep what is above xmm, the VEX ones clear it. */
enum x86_vector_move {
    X86_MOVQ,        /* 8 bytes; a load clears the rest of xmm */
    X86_MOVDQU,      /* 16 bytes */
    X86_VMOVDQU_128, /* 16 bytes */
    X86_VMOVDQU_256, /* 32 bytes */
};

void x86_vector_load(struct code_writer *writer, enum x86_vector_move move, uint8_t vector, struct x86_mem source);
void x86_vector_store(struct code_writer *writer, enum x86_vector_move move, struct x86_mem destination,
                      uint8_t vector);

/* movd and movq: 32 or 64 bits between xmm and a general register. */
void x86_vector_from_reg(struct code_writer *writer, enum x86_size size, uint8_t vector, enum x86_gpr source);
void x86_vector_to_reg(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, uint8_t vector);

#endif

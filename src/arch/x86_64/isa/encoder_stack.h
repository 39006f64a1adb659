/* SPDX-License-Identifier: MIT */
/*
 * Push and pop, of 64 bits, as is their own size; pushfq, popfq and leave are in encoder_plain.h. See encoder.h for the
 * conventions.
 */
#ifndef GAIT_ARCH_X86_64_ISA_ENCODER_STACK_H
#define GAIT_ARCH_X86_64_ISA_ENCODER_STACK_H

#include "arch/x86_64/isa/encoder_operand.h"

struct code_writer;

void x86_push_reg(struct code_writer *writer, enum x86_gpr reg);
void x86_push_mem(struct code_writer *writer, struct x86_mem memory);

/* Pushes the sign-extended value in one store of 8 bytes; 2 or 5 bytes of code. */
void x86_push_imm(struct code_writer *writer, int32_t value);

void x86_pop_reg(struct code_writer *writer, enum x86_gpr reg);

/* An address that uses rsp is computed after rsp went up. */
void x86_pop_mem(struct code_writer *writer, struct x86_mem memory);

#endif

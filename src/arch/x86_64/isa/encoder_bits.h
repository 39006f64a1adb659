/* SPDX-License-Identifier: MIT */
/*
 * Shifts, rotations, single bits, counting bits and crc32. All of it but crc32 changes flags; encoder_flag_free.h has
 * shifts that do not. See encoder.h for the conventions.
 */
#ifndef GAIT_ARCH_X86_64_ISA_ENCODER_BITS_H
#define GAIT_ARCH_X86_64_ISA_ENCODER_BITS_H

#include "arch/x86_64/isa/encoder_operand.h"

struct code_writer;

/* As modrm counts them. */
enum x86_shift {
    X86_ROL,
    X86_ROR,
    X86_RCL,
    X86_RCR,
    X86_SHL,
    X86_SHR,
    X86_SAR = 7,
};

/* By a constant count. */
void x86_shift_reg_imm(struct code_writer *writer, enum x86_shift shift, enum x86_size size, enum x86_gpr reg,
                       uint8_t count);
void x86_shift_mem_imm(struct code_writer *writer, enum x86_shift shift, enum x86_size size, struct x86_mem memory,
                       uint8_t count);

/* By the count in cl. */
void x86_shift_reg_cl(struct code_writer *writer, enum x86_shift shift, enum x86_size size, enum x86_gpr reg);
void x86_shift_mem_cl(struct code_writer *writer, enum x86_shift shift, enum x86_size size, struct x86_mem memory);

/* Copy a bit to the carry, and then set, reset or complement it. Sizes of 16, 32 or 64 bits. */
enum x86_bit_test {
    X86_BT,
    X86_BTS,
    X86_BTR,
    X86_BTC,
};

void x86_bit_test_reg_imm(struct code_writer *writer, enum x86_bit_test operation, enum x86_size size, enum x86_gpr reg,
                          uint8_t bit);
void x86_bit_test_mem_imm(struct code_writer *writer, enum x86_bit_test operation, enum x86_size size,
                          struct x86_mem memory, uint8_t bit);
void x86_bit_test_reg_reg(struct code_writer *writer, enum x86_bit_test operation, enum x86_size size, enum x86_gpr reg,
                          enum x86_gpr bit);

/* Counting and finding bits. Sizes of 16, 32 or 64 bits. */
enum x86_bit_count {
    X86_POPCNT,
    X86_TZCNT,
    X86_LZCNT,
    X86_BSF,
    X86_BSR,
};

void x86_bit_count_reg_reg(struct code_writer *writer, enum x86_bit_count operation, enum x86_size size,
                           enum x86_gpr destination, enum x86_gpr source);
void x86_bit_count_reg_mem(struct code_writer *writer, enum x86_bit_count operation, enum x86_size size,
                           enum x86_gpr destination, struct x86_mem source);

/* Adds a source of that size to the crc32c in the destination's low 32 bits and clears the rest. Flags stay. */
void x86_crc32_reg_reg(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, enum x86_gpr source);
void x86_crc32_reg_mem(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, struct x86_mem source);

#endif

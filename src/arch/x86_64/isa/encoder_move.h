/* SPDX-License-Identifier: MIT */
/*
 * Instructions that move values: mov, extensions, lea, bswap, push and pop (of 64 bits), which leave the flags alone;
 * xchg, xadd, cmpxchg, of which the first does. pushfq, popfq and leave are in encoder_plain.h. See encoder.h for the
 * conventions.
 */
#ifndef GAIT_ARCH_X86_64_ISA_ENCODER_MOVE_H
#define GAIT_ARCH_X86_64_ISA_ENCODER_MOVE_H

#include "arch/x86_64/isa/encoder_operand.h"

struct code_writer;

void x86_mov_reg_reg(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, enum x86_gpr source);
void x86_mov_reg_mem(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, struct x86_mem source);
void x86_mov_mem_reg(struct code_writer *writer, enum x86_size size, struct x86_mem destination, enum x86_gpr source);

/* The shortest form that leaves the register with the low bits of value; 64-bit ones take 5, 6, 7 or 10 bytes. */
void x86_mov_reg_imm(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, uint64_t value);

/* Stores an immediate; in 64 bits it must be a sign-extended 32-bit one. */
void x86_mov_mem_imm(struct code_writer *writer, enum x86_size size, struct x86_mem destination, int64_t value);

/* Moves between al, ax, eax or rax and any address at all; segment may be X86_SEGMENT_NONE. */
void x86_movabs_load(struct code_writer *writer, enum x86_size size, enum x86_segment segment, uint64_t address);
void x86_movabs_store(struct code_writer *writer, enum x86_size size, enum x86_segment segment, uint64_t address);

/* Moves with zero or sign extension, named by the size of the source. From 32 bits, zero extension is mov. */
enum x86_extend {
    X86_MOVZX_8,
    X86_MOVZX_16,
    X86_MOVSX_8,
    X86_MOVSX_16,
    X86_MOVSX_32, /* movsxd */
};

/* The size is the destination's and larger than the source's. */
void x86_extend_reg_reg(struct code_writer *writer, enum x86_extend extend, enum x86_size size,
                        enum x86_gpr destination, enum x86_gpr source);
void x86_extend_reg_mem(struct code_writer *writer, enum x86_extend extend, enum x86_size size,
                        enum x86_gpr destination, struct x86_mem source);

/* 16, 32 or 64 bits of the address of memory, before the base of its segment, if any, is added. */
void x86_lea(struct code_writer *writer, enum x86_size size, enum x86_gpr destination, struct x86_mem memory);

/* Reverses the bytes of 32 or 64 bits. */
void x86_bswap(struct code_writer *writer, enum x86_size size, enum x86_gpr reg);

void x86_push_reg(struct code_writer *writer, enum x86_gpr reg);
void x86_push_mem(struct code_writer *writer, struct x86_mem memory);

/* Pushes the sign-extended value in one store of 8 bytes; 2 or 5 bytes of code. */
void x86_push_imm(struct code_writer *writer, int32_t value);

void x86_pop_reg(struct code_writer *writer, enum x86_gpr reg);

/* An address that uses rsp is computed after rsp went up. */
void x86_pop_mem(struct code_writer *writer, struct x86_mem memory);

/* Reads and writes an operand in one step. */
enum x86_exchange {
    X86_XCHG,    /* always atomic in memory; leaves the flags alone */
    X86_XADD,    /* the register gets the old value, the other operand the sum */
    X86_CMPXCHG, /* against al, ax, eax or rax */
};

void x86_exchange_mem_reg(struct code_writer *writer, enum x86_exchange exchange, enum x86_size size,
                          struct x86_mem destination, enum x86_gpr source);

#endif

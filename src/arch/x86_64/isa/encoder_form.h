/* SPDX-License-Identifier: MIT */
/*
 * How x86-64 lays an instruction out: legacy prefixes, REX, opcode, modrm, sib, displacement, immediate. The
 * encoder_* files say which form an instruction has; only this one knows bytes. An instruction is written whole or not
 * at all. No locks, no system calls; usable inside the target.
 */
#ifndef GAIT_ARCH_X86_64_ISA_ENCODER_FORM_H
#define GAIT_ARCH_X86_64_ISA_ENCODER_FORM_H

#include "arch/x86_64/isa/encoder_operand.h"

struct code_writer;

/* What is fixed before the last operand, a register or memory, is known. Zero fields are absent. */
struct x86_encoder_form {
    uint8_t opcode;
    bool is_two_bytes; /* the opcode stands behind 0f */
    uint8_t size;      /* enum x86_size: asks for the 0x66 prefix or W; 0 for neither */
    uint8_t extension; /* more opcode, in modrm.reg */
    uint8_t reg;       /* the register in modrm.reg */
    bool reg_is_byte;  /* spl, bpl, sil and dil need a REX */
    bool rm_is_byte;
    uint8_t immediate_size; /* in bytes */
    uint64_t immediate;
};

/* Forms whose opcode's lowest bit tells 8-bit operands (0) from larger ones (1), with a register or an extension. */
struct x86_encoder_form x86_encoder_form_sized(uint8_t opcode, enum x86_size size, enum x86_gpr reg);
struct x86_encoder_form x86_encoder_form_extended(uint8_t opcode, enum x86_size size, uint8_t extension);

/* The form with an immediate added. */
struct x86_encoder_form x86_encoder_form_immediate(struct x86_encoder_form form, uint8_t immediate_size,
                                                   int64_t immediate);

/* Write the instruction: with a register or memory in modrm, with a register in the opcode, or with neither. */
void x86_encoder_form_emit_reg(struct code_writer *writer, struct x86_encoder_form form, enum x86_gpr rm);
void x86_encoder_form_emit_mem(struct code_writer *writer, struct x86_encoder_form form, struct x86_mem memory);
void x86_encoder_form_emit_opcode_reg(struct code_writer *writer, struct x86_encoder_form form, enum x86_gpr reg);
void x86_encoder_form_emit_alone(struct code_writer *writer, struct x86_encoder_form form);

/* The byte that overrides the segment. */
uint8_t x86_segment_prefix(enum x86_segment segment);

/*
 * The immediate of an instruction with operands of that size, sign-extended from it: 0xffffffff is -1 in 32 bits. In 64
 * bits it must be a sign-extended 32-bit one, as everywhere but in mov. Others are refused: see x86_encoder_refuse.
 */
int64_t x86_immediate_of_size(struct code_writer *writer, enum x86_size size, int64_t value);

/* How many bytes such an immediate takes where there is no short form. */
uint8_t x86_immediate_size(enum x86_size size);

#endif

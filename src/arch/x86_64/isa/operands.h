/* SPDX-License-Identifier: MIT */
/*
 * The operands of a decoded instruction, one by one: those in the assembly text and those that go without saying. No
 * state, no memory; usable inside the target, from any thread.
 */
#ifndef GAIT_ARCH_X86_64_ISA_OPERANDS_H
#define GAIT_ARCH_X86_64_ISA_OPERANDS_H

#include "arch/x86_64/isa/decoder.h"

struct x86_operand {
    uint8_t kind;           /* of enum x86_operand_kind */
    uint8_t access;         /* of enum x86_access */
    uint8_t visibility;     /* of enum x86_visibility */
    uint8_t register_class; /* of a register, or of a memory operand's vector index */
    uint8_t number;         /* of a register */
    uint8_t memory_kind;    /* of enum x86_memory_kind */
    uint8_t segment;        /* of memory: fs, gs or X86_SEGMENT_NONE */
    uint8_t base, index, scale;
    uint8_t is_pc_relative; /* memory at `value`, from the pc */
    uint16_t size_bits;
    int64_t displacement;
    uint64_t value; /* an immediate, a branch's target, or the address of a pc-relative memory operand */
};

static inline unsigned x86_insn_operand_count(const struct x86_insn *insn)
{
    return insn->form->operand_count;
}

/* Describes operand number `which`, which must be below the count. */
void x86_insn_operand(const struct x86_insn *insn, unsigned which, struct x86_operand *operand_out);

#endif

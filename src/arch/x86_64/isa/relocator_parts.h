/* SPDX-License-Identifier: MIT */
/* What the files of the relocator share: notes for the map, fixups, and the choice of scratch registers. */
#ifndef GAIT_ARCH_X86_64_ISA_RELOCATOR_PARTS_H
#define GAIT_ARCH_X86_64_ISA_RELOCATOR_PARTS_H

#include "arch/x86_64/isa/encoder.h"
#include "arch/x86_64/isa/relocator.h"

/* The part of the stack below rsp that belongs to the program. */
#define X86_RED_ZONE_BYTES 128

enum x86_fixup_kind {
    X86_FIXUP_INTERNAL, /* the copy of the instruction at this offset of the run */
    X86_FIXUP_JUMP,     /* a jump to this address */
    X86_FIXUP_CONSTANT, /* eight bytes with this value */
};

static const struct x86_undo x86_undo_nothing = {
    .saved = {{X86_GPR_NONE, 0}, {X86_GPR_NONE, 0}},
    .sp_from = X86_GPR_NONE,
};

static const struct x86_undo x86_undo_start = {
    .saved = {{X86_GPR_NONE, 0}, {X86_GPR_NONE, 0}},
    .sp_from = X86_GPR_NONE,
    .is_start = 1,
};

/* Keeps the first error. */
void x86_relocator_fail(struct x86_relocator *relocator, int error);

/* Notes that the code from here on stands for the original pc, and what to undo there. */
void x86_relocator_note(struct x86_relocator *relocator, struct app_pc app_pc, struct x86_undo undo);

/* The label of something that will be written at the end; equal ones are written once. */
struct x86_label *x86_relocator_later(struct x86_relocator *relocator, enum x86_fixup_kind kind, uint64_t value);

/* A low register, neither rsp nor rbp, that is not in the set: it can be any operand without a change of prefixes. */
enum x86_gpr x86_relocator_scratch(x86_gpr_set used);

/* The memory operand for a slot in the thread's segment. */
struct x86_mem x86_relocator_slot(const struct x86_relocator *relocator, unsigned slot);

/* Writes the bytes of an instruction whose pc-relative operand is near enough, adjusted. False if it is not. */
bool x86_relocator_put_near(struct code_writer *writer, const struct x86_insn *insn, const uint8_t *bytes);

/* relocator_memory.c: an instruction that is no branch and whose pc-relative operand is out of reach. */
void x86_relocator_put_far(struct x86_relocator *relocator, const struct x86_insn *insn, const uint8_t *bytes);

/*
 * relocator_memory.c: the instruction with [base] for its memory operand, in no particular segment. It must have one of
 * the form with a modrm byte, and no vector index; base is one of those that x86_relocator_scratch gives.
 */
void x86_relocator_put_flat(struct code_writer *writer, const struct x86_insn *insn, const uint8_t *bytes,
                            enum x86_gpr base);

/* relocator_flow.c: an instruction that changes the flow of control. */
void x86_relocator_put_flow(struct x86_relocator *relocator, const struct x86_insn *insn, const uint8_t *bytes);

/* relocator_flow.c: goes to an original address, in the copy where that is part of the run. */
void x86_relocator_jump(struct x86_relocator *relocator, uint64_t target);

#endif

/* SPDX-License-Identifier: MIT */
/* What the files that translate x86-64 blocks share: the decoded block, places in the thread's state, the trail. */
#ifndef GAIT_ARCH_X86_64_STALKER_TRANSLATE_H
#define GAIT_ARCH_X86_64_STALKER_TRANSLATE_H

#include "arch/x86_64/isa/decoder.h"
#include "arch/x86_64/isa/encoder.h"
#include "arch/x86_64/stalker/callout_code.h"
#include "arch/x86_64/stalker/event_code.h"
#include "stalker/block_draft.h"
#include "stalker/thread_layout.h"
#include "stalker/translation.h"

/* The registers that indirect branches take to look up their target. rcx, since jrcxz tests it without flags. */
#define TARGET_REGISTER X86_RCX
#define INDEX_REGISTER  X86_RDI
#define BRANCH_SET      ((x86_gpr_set)(X86_GPR_BIT(TARGET_REGISTER) | X86_GPR_BIT(INDEX_REGISTER)))

/* Of the index register: those of the index. */
#define BRANCH_INDEX_BITS 16

/* Holds the position of events, where there are any, at the borders of all blocks. */
#define POSITION_REGISTER X86_R11

struct cold_piece;

struct x86_block {
    struct block_draft draft; /* first: translation.draft points to it */
    struct x86_insn insns[BLOCK_INSNS_MAX];
};

static inline struct x86_block *x86_block_of(struct translation *translation)
{
    return (struct x86_block *)(void *)translation->draft;
}

static inline struct x86_mem thread_field(int32_t offset)
{
    return x86_mem_segment(X86_GS, x86_mem_absolute(offset));
}

/* Where a register of the program is kept while something else is in it. */
static inline struct x86_mem register_home(enum x86_gpr gpr)
{
    return thread_field(THREAD_CONTEXT + 8 * (int32_t)gpr);
}

/* Puts eight bytes at an aligned place in cold memory; programs may ask for faults where data is not aligned. */
static inline struct cache_pc x86_put_constant(struct code_writer *cold, uint64_t value)
{
    struct cache_pc place;

    x86_align(cold, sizeof(value));
    place = code_writer_pc(cold);
    code_writer_put_u64(cold, value);
    return place;
}

/* Writes an instruction that does not change the flow of control. translate_block.c */
void x86_put_plain(struct translation *translation, const struct x86_insn *insn, const uint8_t *bytes);

/* Writes one that does, and with it the end of the block. translate_flow.c */
void x86_put_flow(struct translation *translation, const struct x86_insn *insn, const uint8_t *bytes);

/* Writes the piece that stalker/call_piece.h needs. */
void x86_put_call_piece(struct code_writer *writer, struct app_pc next, uint64_t thread_base);

/* Writes a branch to exit number `which`. As arch/engine.h has it. exit_code.c */
void x86_put_exit(struct translation *translation, unsigned which, unsigned kind, struct app_pc target);

/* The same for a conditional branch; the flow goes on behind it if the condition does not hold. */
void x86_put_exit_if(struct translation *translation, unsigned which, enum x86_condition condition,
                     struct app_pc target);

/* Notes that the displacement of an exit's branch was just written as the last four bytes of hot code. */
void x86_note_place(struct translation *translation, unsigned which);

/* Writes the stub of an exit in cold memory and returns its address. */
struct cache_pc x86_put_stub(struct translation *translation, unsigned which, enum block_exit_kind kind,
                             struct app_pc target);

/* indirect_code.c: saves the registers that the lookup takes; then, with the target in rcx, goes there. */
void x86_put_branch_save(struct translation *translation, const struct x86_insn *insn);
void x86_put_branch_indirect(struct translation *translation);

/* indirect_code.c: checks that rcx is the block's start, and restores registers. As arch/engine.h has it. */
void x86_put_landing(struct translation *translation, struct cold_piece *piece, const struct block *block);

#endif

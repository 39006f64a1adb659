/* SPDX-License-Identifier: MIT */
/* What the files that translate x86-64 blocks share: the decoded block, places in the thread's state, the trail. */
#ifndef GAIT_ARCH_X86_64_STALKER_TRANSLATE_H
#define GAIT_ARCH_X86_64_STALKER_TRANSLATE_H

#include "arch/x86_64/isa/decoder.h"
#include "arch/x86_64/isa/encoder.h"
#include "arch/x86_64/stalker/callout_code.h"
#include "arch/x86_64/stalker/event_code.h"
#include "stalker/thread_layout.h"
#include "stalker/trail.h"
#include "stalker/translation.h"

/* The registers that indirect branches take to look up their target. rcx, since jrcxz tests it without flags. */
#define TARGET_REGISTER X86_RCX
#define INDEX_REGISTER  X86_RDI
#define BRANCH_SET      ((x86_gpr_set)(X86_GPR_BIT(TARGET_REGISTER) | X86_GPR_BIT(INDEX_REGISTER)))

/* Of the index register: those of the index. */
#define BRANCH_INDEX_BITS 16

/* Holds the position of events, where there are any, at the borders of all blocks. */
#define POSITION_REGISTER X86_R11

/* A block that is checked is no longer than this. */
#define X86_CHECKED_BYTES_MAX 256

#define TRAIL_POINTS_MAX      (BLOCK_INSNS_MAX * 8)

struct cold_piece;

struct x86_block {
    unsigned count;
    bool is_checked;       /* each time that it runs: its original may change */
    const uint8_t *source; /* its bytes: the original or, if that may change, the copy */
    uint8_t copy[X86_CHECKED_BYTES_MAX];
    bool ends_bad;     /* what follows the last instruction cannot be translated */
    bool ends_unknown; /* since it is no instruction, or no memory */
    unsigned point_count;
    bool is_bare;      /* nothing holds for the block that states do not say; in doubt it is not */
    x86_gpr_set homes; /* registers that are at home until the block overwrites them */
    struct event_plan events;
    struct app_pc callout_pc; /* where the last callout stands, and how many there are */
    unsigned callouts_done;
    unsigned count_pending;
    struct app_pc count_pc; /* where the last counts were made, and whether their number was odd */
    bool is_counted;
    uint64_t counts[X86_COUNTS_PENDING_MAX];
    struct x86_insn insns[BLOCK_INSNS_MAX];
    struct trail_point points[TRAIL_POINTS_MAX];
    uint8_t trail[TRAIL_POINTS_MAX * 4];
};

static inline struct x86_block *x86_block_of(struct translation *translation)
{
    return translation->insns;
}

static const struct trail_state trail_plain = {0};

/* Whether nothing has to be put between the block's instructions: no events, no counts. */
static inline bool x86_puts_nothing_between(struct translation *translation)
{
    return !x86_events_in_use(translation) && x86_block_of(translation)->count_pending == 0;
}

/* Notes that from the next byte of hot code on, the thread is at app_pc in that state. */
void x86_trail_note(struct translation *translation, struct app_pc app_pc, struct trail_state state);

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
void x86_put_call_piece(struct code_writer *writer, struct app_pc next, uint64_t segment_base);

/* Writes a branch to exit number `which`, whose target and kind are given. exit_code.c */
void x86_put_exit(struct translation *translation, unsigned which, enum block_exit_kind kind, struct app_pc target);

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

/*
 * indirect_code.c: checks that rcx is the block's start, and restores the registers that are live there. In hot memory,
 * or as part of a piece in cold memory.
 */
void x86_put_landing(struct translation *translation, struct cold_piece *piece, const struct block *block,
                     x86_gpr_set live);

#endif

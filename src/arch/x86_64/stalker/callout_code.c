/* SPDX-License-Identifier: MIT */
/*
 * What transformers put into blocks: calls of C functions, code, counts, returns. A callout switches to the engine's
 * stack and goes through a gate, which saves the registers; the program's stack is not touched.
 */
#include "arch/x86_64/stalker/callout_code.h"

#include "arch/x86_64/stalker/translate.h"
#include "stalker/callout.h"

void x86_put_callout(struct translation *translation, const struct callout *callout)
{
    struct code_writer *hot = &translation->hot;
    struct trail_state switched = trail_plain;
    struct cache_pc constant = x86_put_constant(&translation->cold, (uintptr_t)callout);

    block_draft_note(translation, callout->pc, trail_plain);
    x86_mov_mem_reg(hot, X86_SIZE_64, register_home(X86_RSP), X86_RSP);
    x86_mov_reg_mem(hot, X86_SIZE_64, X86_RSP, thread_field(THREAD_ENGINE_SP));
    switched.homes = X86_GPR_BIT(X86_RSP);
    block_draft_note(translation, callout->pc, switched);
    x86_push_mem(hot, x86_mem_address(constant.value));
    x86_call_mem(hot, thread_field(translation->draft->homes & X86_GPR_BIT(X86_R11) ? THREAD_GATE_CALLOUT_POSITION
                                                                                    : THREAD_GATE_CALLOUT));
    switched.taking = TRAIL_TAKING_DONE;
    block_draft_note_callout(translation, callout->pc, switched);
    x86_mov_reg_mem(hot, X86_SIZE_64, X86_RSP, register_home(X86_RSP));
    block_draft_note(translation, callout->pc, trail_plain);
}

void x86_put_code(struct translation *translation, struct app_pc pc, const void *code, size_t size_bytes)
{
    block_draft_note(translation, pc, trail_plain);
    x86_take_register(translation);
    block_draft_note(translation, pc, trail_plain);
    code_writer_put_bytes(&translation->hot, code, size_bytes);
    block_draft_note_callout(translation, pc, trail_plain);
}

void x86_put_return_here(struct translation *translation, struct app_pc pc)
{
    struct x86_insn insn = {.pc = pc, .flow = X86_FLOW_RETURN, .gpr_read = X86_GPR_BIT(X86_RSP)};

    x86_put_flow(translation, &insn, NULL);
}

/* Counts are put off until the flags are free, or the block ends. */
void x86_put_count(struct translation *translation, struct app_pc pc, uint64_t *counter)
{
    struct block_draft *draft = translation->draft;

    if (draft->count_pending == DRAFT_COUNTS_MAX)
        x86_put_counts(translation, pc, false);
    draft->counts[draft->count_pending++] = (uintptr_t)counter;
}

static void count_by_flags(struct translation *translation, uint64_t counter)
{
    struct code_writer *hot = &translation->hot;

    x86_unary_mem(hot, X86_INC, X86_SIZE_64, x86_mem_address(counter));
}

/* Takes registers for a while, one or two, and gives them back. */
static void save(struct translation *translation, struct app_pc pc, x86_gpr_set registers)
{
    struct trail_state state = trail_plain;

    for (enum x86_gpr gpr = X86_RAX; gpr < X86_GPR_COUNT; gpr++)
        if (registers & X86_GPR_BIT(gpr))
            x86_mov_mem_reg(&translation->hot, X86_SIZE_64, register_home(gpr), gpr);
    state.homes = registers;
    state.taking = TRAIL_TAKING_BEGUN;
    block_draft_note(translation, pc, state);
}

static void restore(struct translation *translation, struct app_pc pc, x86_gpr_set registers)
{
    struct trail_state state = {.homes = registers, .taking = TRAIL_TAKING_DONE};

    block_draft_note(translation, pc, state);
    for (enum x86_gpr gpr = X86_RAX; gpr < X86_GPR_COUNT; gpr++)
        if (registers & X86_GPR_BIT(gpr))
            x86_mov_reg_mem(&translation->hot, X86_SIZE_64, gpr, register_home(gpr));
}

static void increment(struct translation *translation, struct x86_mem place)
{
    struct code_writer *hot = &translation->hot;

    x86_mov_reg_mem(hot, X86_SIZE_64, X86_RCX, place);
    x86_lea(hot, X86_SIZE_64, X86_RCX, x86_mem_base(X86_RCX, 1));
    x86_mov_mem_reg(hot, X86_SIZE_64, place, X86_RCX);
}

static void count_by_register(struct translation *translation, struct app_pc pc, uint64_t counter)
{
    save(translation, pc, X86_GPR_BIT(X86_RCX));
    increment(translation, x86_mem_address(counter));
    restore(translation, pc, X86_GPR_BIT(X86_RCX));
}

/* The same out of reach. */
static void count_far_by_flags(struct translation *translation, struct app_pc pc, uint64_t counter)
{
    save(translation, pc, X86_GPR_BIT(X86_RCX));
    x86_mov_reg_imm(&translation->hot, X86_SIZE_64, X86_RCX, counter);
    x86_unary_mem(&translation->hot, X86_INC, X86_SIZE_64, x86_mem_base(X86_RCX, 0));
    restore(translation, pc, X86_GPR_BIT(X86_RCX));
}

/* A counter that is out of reach. */
static void count_far(struct translation *translation, struct app_pc pc, uint64_t counter)
{
    x86_gpr_set taken = X86_GPR_BIT(X86_RCX) | X86_GPR_BIT(X86_RDX);

    save(translation, pc, taken);
    x86_mov_reg_imm(&translation->hot, X86_SIZE_64, X86_RDX, counter);
    increment(translation, x86_mem_base(X86_RDX, 0));
    restore(translation, pc, taken);
}

void x86_put_counts(struct translation *translation, struct app_pc pc, bool flags_free)
{
    struct block_draft *draft = translation->draft;
    uint64_t here = code_writer_pc(&translation->hot).value;

    for (unsigned i = 0; i < draft->count_pending; i++) {
        uint64_t counter = draft->counts[i];
        bool is_near = address_fits_rel32(here, counter) && address_fits_rel32(here + 256, counter);

        block_draft_note(translation, pc, trail_plain);
        if (is_near && flags_free)
            count_by_flags(translation, counter);
        else if (is_near)
            count_by_register(translation, pc, counter);
        else if (flags_free)
            count_far_by_flags(translation, pc, counter);
        else
            count_far(translation, pc, counter);
    }
    if (draft->count_pending == 0)
        return;
    block_draft_note_counts(translation, pc);
}

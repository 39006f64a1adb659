/* SPDX-License-Identifier: MIT */
/*
 * A record is some stores through the position in the thread's state. What it costs is decided by what has to be saved
 * around it, so the place in the block is chosen: before an instruction that overwrites the flags, with a register that
 * the block overwrites later on.
 *
 * Whether the buffer is full is not asked for each record: the slack behind its end is enough for all blocks of a page
 * of code, so it is asked where control may go back or leave the page.
 */
#include "arch/x86_64/stalker/event_code.h"

#include "arch/x86_64/stalker/translate.h"
#include "gait/stalker.h"
#include "stalker/event_layout.h"

#define PAGE_SHIFT 12
/* Holds the position at direct calls: compilers use it least there. */
#define CALL_POSITION X86_R11

static uint32_t events_of(const struct translation *translation)
{
    return translation->cache->configuration.events;
}

static bool wants_blocks(const struct translation *translation)
{
    return events_of(translation) & (GAIT_EVENT_BLOCK | GAIT_EVENT_EXEC);
}

/* Depths of returns need calls too. */
static bool wants_calls(const struct translation *translation)
{
    return events_of(translation) & (GAIT_EVENT_CALL | GAIT_EVENT_RET);
}

static bool wants_returns(const struct translation *translation)
{
    return events_of(translation) & GAIT_EVENT_RET;
}

/* The record that the block's end writes, or EVENT_RECORD_BLOCK: none of its own. */
static enum event_record record_at_end(const struct translation *translation, const struct x86_insn *last)
{
    if (last->flow == X86_FLOW_CALL && wants_calls(translation))
        return EVENT_RECORD_CALL;
    if (last->flow == X86_FLOW_CALL_INDIRECT && wants_calls(translation))
        return EVENT_RECORD_CALL_TARGET;
    if (last->flow == X86_FLOW_RETURN && wants_returns(translation))
        return EVENT_RECORD_RETURN;
    return EVENT_RECORD_BLOCK;
}

static bool can_fault(const struct x86_insn *insn)
{
    return insn->flow != X86_FLOW_NEXT ||
           insn->properties & (X86_MAY_FAULT | X86_MEMORY_READ | X86_MEMORY_WRITE | X86_PRIVILEGED);
}

/* Whether all flags are lost at the instruction, and nobody can see them before. */
static bool overwrites_flags(const struct x86_insn *insn)
{
    return !can_fault(insn) && (insn->flags.written & X86_FLAGS_STATUS) == X86_FLAGS_STATUS &&
           (insn->flags.kept & X86_FLAGS_STATUS) == 0 && (insn->flags.read & X86_FLAGS_STATUS) == 0;
}

/* Whether control can come back to code before this block, or leave its page, without a look at the buffer. */
static bool needs_check(const struct block *block, const struct x86_block *decoded)
{
    const struct x86_insn *last = &decoded->insns[decoded->count - 1];
    uint64_t page = block->start.value >> PAGE_SHIFT;

    if (block_end(block).value >> PAGE_SHIFT != page)
        return true;
    switch (last->flow) {
    case X86_FLOW_NEXT:
        return false;
    case X86_FLOW_JUMP:
    case X86_FLOW_BRANCH:
    case X86_FLOW_BRANCH_COUNT:
    case X86_FLOW_TRANSACTION:
        return last->target <= last->pc.value || last->target >> PAGE_SHIFT != page;
    default:
        return true;
    }
}

/*
 * A register for the time from before an instruction on: best one that the rest of the block overwrites without reading
 * it, else one that it does not read.
 */
static void choose_register(const struct x86_block *decoded, unsigned from, struct event_plan *plan)
{
    x86_gpr_set read = X86_GPR_BIT(X86_RSP), unread;

    plan->record_restore = false;
    for (unsigned i = from; i < decoded->count; i++) {
        const struct x86_insn *insn = &decoded->insns[i];
        x86_gpr_set dead;

        read |= insn->gpr_read;
        dead = (x86_gpr_set)(insn->gpr_written & ~insn->gpr_kept & ~read);
        if (dead != 0 && insn->flow == X86_FLOW_NEXT) {
            plan->record_register = (uint8_t)__builtin_ctz(dead);
            return;
        }
        read |= insn->gpr_written;
    }
    unread = (x86_gpr_set)~read;
    plan->record_restore = true;
    plan->record_register = unread & ~0xffu ? (uint8_t)(31 - __builtin_clz(unread))
                            : unread != 0   ? (uint8_t)__builtin_ctz(unread)
                                            : X86_R11;
}

void x86_event_plan(struct translation *translation)
{
    struct x86_block *decoded = x86_block_of(translation);
    struct event_plan *plan = &decoded->events;
    enum event_record at_end;
    unsigned place = 0;

    *plan = (struct event_plan){0};
    if (decoded->count == 0 || !(wants_blocks(translation) || wants_calls(translation)))
        return;
    at_end = record_at_end(translation, &decoded->insns[decoded->count - 1]);
    plan->record = wants_blocks(translation) && at_end == EVENT_RECORD_BLOCK;
    plan->check = (plan->record || at_end != EVENT_RECORD_BLOCK) && needs_check(translation->block, decoded);
    while (place < decoded->count && !overwrites_flags(&decoded->insns[place]))
        place++;
    plan->check_before = place;
    plan->record_before = place < decoded->count ? place : 0;
    if (!plan->record && place == decoded->count && at_end == EVENT_RECORD_CALL)
        plan->check_before = decoded->count - 1;
    choose_register(decoded, plan->record_before, plan);
}

static uint32_t header_of(const struct translation *translation, enum event_record record)
{
    return translation->block->index << EVENT_KIND_BITS | record;
}

/* Comes back to hot code at `behind`, with all registers the program's. */
static void put_full_stub(struct translation *translation, struct cache_pc behind, enum x86_gpr held)
{
    struct code_writer *cold = &translation->cold;

    x86_lea(cold, X86_SIZE_64, held, x86_mem_address(behind.value));
    x86_mov_mem_reg(cold, X86_SIZE_64, thread_field(THREAD_RESUME), held);
    x86_mov_reg_mem(cold, X86_SIZE_64, held, register_home(held));
    x86_jmp_mem(cold, thread_field(THREAD_GATE_EVENTS));
}

/* With the position in a register, and flags free. */
static void put_check_by_flags(struct translation *translation, enum x86_gpr position)
{
    struct code_writer *hot = &translation->hot;
    struct cache_pc stub = code_writer_pc(&translation->cold);

    x86_arithmetic_reg_mem(hot, X86_CMP, X86_SIZE_64, position, thread_field(THREAD_EVENT_LIMIT));
    x86_jcc_pc(hot, X86_NOT_BELOW, stub, X86_REACH_NEAR);
    put_full_stub(translation, code_writer_pc(hot), position);
}

/* With rcx at home, and flags as they are. */
static void put_check_by_count(struct translation *translation)
{
    struct code_writer *hot = &translation->hot;
    struct x86_label full, room;

    x86_label_init(&full);
    x86_label_init(&room);
    x86_extend_reg_mem(hot, X86_MOVZX_8, X86_SIZE_32, X86_RCX, thread_field(THREAD_EVENT_POSITION + EVENT_FULL_BYTE));
    x86_loop_label(hot, X86_JRCXZ, X86_SIZE_64, &full);
    x86_jmp_label(hot, &room, X86_REACH_SHORT);
    x86_label_bind(&full, hot);
    x86_jmp_pc(hot, code_writer_pc(&translation->cold), X86_REACH_NEAR);
    x86_label_bind(&room, hot);
    put_full_stub(translation, code_writer_pc(hot), X86_RCX);
}

static void put_record(struct translation *translation, const struct event_plan *plan, struct app_pc pc, bool check)
{
    struct code_writer *hot = &translation->hot;
    enum x86_gpr position = plan->record_register;
    struct trail_state state = trail_plain;

    x86_mov_mem_reg(hot, X86_SIZE_64, register_home(position), position);
    state.homes = X86_GPR_BIT(position);
    x86_trail_note(translation, pc, state);
    x86_mov_reg_mem(hot, X86_SIZE_64, position, thread_field(THREAD_EVENT_POSITION));
    x86_mov_mem_imm(hot, X86_SIZE_32, x86_mem_base(position, 0),
                    (int32_t)header_of(translation, EVENT_RECORD_BLOCK));
    x86_lea(hot, X86_SIZE_64, position, x86_mem_base(position, 4));
    x86_mov_mem_reg(hot, X86_SIZE_64, thread_field(THREAD_EVENT_POSITION), position);
    if (check)
        put_check_by_flags(translation, position);
    if (plan->record_restore)
        x86_mov_reg_mem(hot, X86_SIZE_64, position, register_home(position));
    else
        x86_block_of(translation)->homes = state.homes;
}

/* Somewhere in the block, taking rcx and leaving it as it was. */
static void put_check(struct translation *translation, struct app_pc pc)
{
    struct code_writer *hot = &translation->hot;
    struct trail_state state = trail_plain;

    if (x86_block_of(translation)->homes & X86_GPR_BIT(X86_RCX)) {
        put_check_by_count(translation);
        return;
    }
    state.homes = X86_GPR_BIT(X86_RCX);
    x86_mov_mem_reg(hot, X86_SIZE_64, register_home(X86_RCX), X86_RCX);
    x86_trail_note(translation, pc, state);
    put_check_by_count(translation);
    x86_mov_reg_mem(hot, X86_SIZE_64, X86_RCX, register_home(X86_RCX));
}

void x86_put_events_before(struct translation *translation, unsigned which)
{
    struct x86_block *decoded = x86_block_of(translation);
    const struct event_plan *plan = &decoded->events;
    struct app_pc pc = decoded->insns[which].pc;
    bool flags_free = plan->check_before == which && which < decoded->count && overwrites_flags(&decoded->insns[which]);

    if (plan->record && plan->record_before == which) {
        x86_trail_note(translation, pc, trail_plain);
        put_record(translation, plan, pc, plan->check && flags_free);
        if (plan->check && plan->check_before == decoded->count)
            put_check(translation, pc);
        return;
    }
    if (!plan->record && plan->check && plan->check_before == which) {
        x86_trail_note(translation, pc, trail_plain);
        put_check(translation, pc);
    }
}

void x86_put_event_call(struct translation *translation, const struct x86_insn *insn)
{
    struct code_writer *hot = &translation->hot;
    struct trail_state state = trail_plain;

    if (record_at_end(translation, insn) != EVENT_RECORD_CALL)
        return;
    state.homes = X86_GPR_BIT(CALL_POSITION);
    x86_mov_mem_reg(hot, X86_SIZE_64, register_home(CALL_POSITION), CALL_POSITION);
    x86_trail_note(translation, insn->pc, state);
    x86_mov_reg_mem(hot, X86_SIZE_64, CALL_POSITION, thread_field(THREAD_EVENT_POSITION));
    x86_mov_mem_imm(hot, X86_SIZE_32, x86_mem_base(CALL_POSITION, 0),
                    (int32_t)header_of(translation, EVENT_RECORD_CALL));
    x86_mov_mem_reg(hot, X86_SIZE_64, x86_mem_base(CALL_POSITION, 4), X86_RSP);
    x86_lea(hot, X86_SIZE_64, CALL_POSITION, x86_mem_base(CALL_POSITION, 12));
    x86_mov_mem_reg(hot, X86_SIZE_64, thread_field(THREAD_EVENT_POSITION), CALL_POSITION);
    x86_mov_reg_mem(hot, X86_SIZE_64, CALL_POSITION, register_home(CALL_POSITION));
    x86_trail_note(translation, insn->pc, trail_plain);
}

static void put_record_indirect(struct translation *translation, enum event_record record)
{
    struct code_writer *hot = &translation->hot;
    bool is_call = record == EVENT_RECORD_CALL_TARGET;
    int32_t target_offset = is_call ? 12 : 4;

    x86_mov_reg_mem(hot, X86_SIZE_64, INDEX_REGISTER, thread_field(THREAD_EVENT_POSITION));
    x86_mov_mem_imm(hot, X86_SIZE_32, x86_mem_base(INDEX_REGISTER, 0), (int32_t)header_of(translation, record));
    if (is_call)
        x86_mov_mem_reg(hot, X86_SIZE_64, x86_mem_base(INDEX_REGISTER, 4), X86_RSP);
    x86_mov_mem_reg(hot, X86_SIZE_64, x86_mem_base(INDEX_REGISTER, target_offset), TARGET_REGISTER);
    x86_lea(hot, X86_SIZE_64, INDEX_REGISTER, x86_mem_base(INDEX_REGISTER, target_offset + 8));
    x86_mov_mem_reg(hot, X86_SIZE_64, thread_field(THREAD_EVENT_POSITION), INDEX_REGISTER);
}

void x86_put_event_call_indirect(struct translation *translation)
{
    if (wants_calls(translation))
        put_record_indirect(translation, EVENT_RECORD_CALL_TARGET);
}

void x86_put_event_return(struct translation *translation)
{
    if (wants_returns(translation))
        put_record_indirect(translation, EVENT_RECORD_RETURN);
}

void x86_put_event_check_indirect(struct translation *translation, const struct x86_insn *insn)
{
    struct x86_block *decoded = x86_block_of(translation);
    const struct event_plan *plan = &decoded->events;

    if (plan->record || !plan->check || plan->check_before != decoded->count)
        return;
    put_check_by_count(translation);
    if (insn->gpr_read & X86_GPR_BIT(X86_RCX))
        x86_mov_reg_mem(&translation->hot, X86_SIZE_64, X86_RCX, register_home(X86_RCX));
}

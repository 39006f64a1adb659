/* SPDX-License-Identifier: MIT */
/*
 * A record is some stores through the position, which is in a register of the program's: kept in the thread's state, it
 * would have to pass through memory from each block to the next, several cycles that nothing can hide. Where threads
 * have events that register, r11, is the position at the borders of all blocks and the program's value of it is at
 * home; instructions that use r11 get their own for as long as they need it. Compilers use r11 least.
 *
 * The store of a record's header is the moment at which the event has happened: until then the trail takes the thread
 * back to before the instruction, and from then on it is behind it. So an interruption neither loses nor doubles one.
 */
#include "arch/x86_64/stalker/event_code.h"

#include "arch/x86_64/stalker/translate.h"
#include "gait/stalker.h"
#include "ring/event_record.h"

enum arch_flow x86_event_flow(const struct x86_insn *insn)
{
    switch (insn->flow) {
    case X86_FLOW_NEXT:
        return ARCH_FLOW_NEXT;
    case X86_FLOW_JUMP:
    case X86_FLOW_BRANCH:
    case X86_FLOW_BRANCH_COUNT:
    case X86_FLOW_TRANSACTION:
        return ARCH_FLOW_BRANCH;
    case X86_FLOW_CALL:
        return ARCH_FLOW_CALL;
    case X86_FLOW_CALL_INDIRECT:
        return ARCH_FLOW_CALL_INDIRECT;
    case X86_FLOW_RETURN:
        return ARCH_FLOW_RETURN;
    default:
        return ARCH_FLOW_OTHER;
    }
}

static bool can_fault(const struct x86_insn *insn)
{
    return insn->flow != X86_FLOW_NEXT ||
           insn->properties & (X86_MAY_FAULT | X86_MEMORY_READ | X86_MEMORY_WRITE | X86_PRIVILEGED);
}

bool x86_overwrites_flags(const struct x86_insn *insn)
{
    return !can_fault(insn) && (insn->flags.written & X86_FLAGS_STATUS) == X86_FLAGS_STATUS &&
           (insn->flags.kept & X86_FLAGS_STATUS) == 0 && (insn->flags.read & X86_FLAGS_STATUS) == 0;
}

void x86_event_plan(struct translation *translation)
{
    struct x86_block *decoded = x86_block_of(translation);
    const struct x86_insn *last;
    struct block_ending ending;
    unsigned place = 0;

    if (!event_plan_begin(translation))
        return;
    while (place < decoded->draft.count && !x86_overwrites_flags(&decoded->insns[place]))
        place++;
    last = &decoded->insns[decoded->draft.count - 1];
    ending = (struct block_ending){x86_event_flow(last), last->pc.value, last->target};
    event_plan_settle(translation, &ending, place);
}

void x86_take_register(struct translation *translation)
{
    struct block_draft *draft = translation->draft;

    if (!(draft->homes & X86_GPR_BIT(POSITION_REGISTER)))
        return;
    x86_mov_mem_reg(&translation->hot, X86_SIZE_64, thread_field(THREAD_EVENT_POSITION), POSITION_REGISTER);
    x86_mov_reg_mem(&translation->hot, X86_SIZE_64, POSITION_REGISTER, register_home(POSITION_REGISTER));
    draft->homes &= (x86_gpr_set)~X86_GPR_BIT(POSITION_REGISTER);
}

void x86_take_position(struct translation *translation)
{
    struct block_draft *draft = translation->draft;

    if (!code_cache_has_events(translation->cache) || draft->homes & X86_GPR_BIT(POSITION_REGISTER))
        return;
    x86_mov_mem_reg(&translation->hot, X86_SIZE_64, register_home(POSITION_REGISTER), POSITION_REGISTER);
    x86_mov_reg_mem(&translation->hot, X86_SIZE_64, POSITION_REGISTER, thread_field(THREAD_EVENT_POSITION));
    draft->homes |= X86_GPR_BIT(POSITION_REGISTER);
}

/* Comes back to hot code at `behind`. rcx is the program's, or at home. */
static void put_full_stub(struct translation *translation, struct cache_pc behind, bool is_rcx_at_home)
{
    struct code_writer *cold = &translation->cold;

    if (!is_rcx_at_home)
        x86_mov_mem_reg(cold, X86_SIZE_64, register_home(X86_RCX), X86_RCX);
    x86_lea(cold, X86_SIZE_64, X86_RCX, x86_mem_address(behind.value));
    x86_mov_mem_reg(cold, X86_SIZE_64, thread_field(THREAD_RESUME), X86_RCX);
    x86_mov_reg_mem(cold, X86_SIZE_64, X86_RCX, register_home(X86_RCX));
    x86_jmp_mem(cold, thread_field(THREAD_GATE_EVENTS));
}

static void put_check_by_flags(struct translation *translation)
{
    struct code_writer *hot = &translation->hot;
    struct cache_pc stub = code_writer_pc(&translation->cold);

    x86_arithmetic_reg_mem(hot, X86_CMP, X86_SIZE_64, POSITION_REGISTER, thread_field(THREAD_EVENT_LIMIT));
    x86_jcc_pc(hot, X86_NOT_BELOW, stub, X86_REACH_NEAR);
    put_full_stub(translation, code_writer_pc(hot), false);
}

/* With rcx at home, and flags as they are. */
static void put_check_by_count(struct translation *translation)
{
    struct code_writer *hot = &translation->hot;
    struct x86_label full, room;

    x86_label_init(&full);
    x86_label_init(&room);
    x86_mov_mem_reg(hot, X86_SIZE_64, thread_field(THREAD_EVENT_POSITION), POSITION_REGISTER);
    x86_extend_reg_mem(hot, X86_MOVZX_8, X86_SIZE_32, X86_RCX, thread_field(THREAD_EVENT_POSITION + EVENT_FULL_BYTE));
    x86_loop_label(hot, X86_JRCXZ, X86_SIZE_64, &full);
    x86_jmp_label(hot, &room, X86_REACH_SHORT);
    x86_label_bind(&full, hot);
    x86_jmp_pc(hot, code_writer_pc(&translation->cold), X86_REACH_NEAR);
    x86_label_bind(&room, hot);
    put_full_stub(translation, code_writer_pc(hot), true);
}

/* Somewhere in the block, taking rcx and leaving it as it was. */
static void put_check(struct translation *translation, struct app_pc pc, bool flags_free)
{
    struct code_writer *hot = &translation->hot;
    struct trail_state state = trail_plain;

    translation->draft->events.is_checked = true;
    if (flags_free) {
        put_check_by_flags(translation);
        return;
    }
    state.homes = X86_GPR_BIT(X86_RCX);
    x86_mov_mem_reg(hot, X86_SIZE_64, register_home(X86_RCX), X86_RCX);
    block_draft_note(translation, pc, state);
    put_check_by_count(translation);
    x86_mov_reg_mem(hot, X86_SIZE_64, X86_RCX, register_home(X86_RCX));
}

/* With the position in its register; `state` and `pc` are those of the place. */
static void put_time(struct translation *translation, struct app_pc pc, struct trail_state state, int32_t offset)
{
    struct code_writer *hot = &translation->hot;

    x86_mov_mem_reg(hot, X86_SIZE_64, register_home(X86_RAX), X86_RAX);
    x86_mov_mem_reg(hot, X86_SIZE_64, register_home(X86_RDX), X86_RDX);
    state.homes |= X86_GPR_BIT(X86_RAX) | X86_GPR_BIT(X86_RDX);
    block_draft_note(translation, pc, state);
    x86_plain(hot, X86_RDTSC);
    x86_mov_mem_reg(hot, X86_SIZE_32, x86_mem_base(POSITION_REGISTER, offset), X86_RAX);
    x86_mov_mem_reg(hot, X86_SIZE_32, x86_mem_base(POSITION_REGISTER, offset + 4), X86_RDX);
    x86_mov_reg_mem(hot, X86_SIZE_64, X86_RDX, register_home(X86_RDX));
    x86_mov_reg_mem(hot, X86_SIZE_64, X86_RAX, register_home(X86_RAX));
}

/* Writes what all records have, and with its last instruction makes the record valid. */
static void put_record(struct translation *translation, struct app_pc pc, struct trail_state state,
                       enum event_record record)
{
    struct code_writer *hot = &translation->hot;
    struct event_format format =
        event_format_of(event_plan_events(translation), translation->cache->configuration.times);
    int32_t size = (int32_t)event_record_bytes(format, record);

    if (event_record_has_time(format, record))
        put_time(translation, pc, state, (int32_t)event_time_offset(format, record));
    x86_lea(hot, X86_SIZE_64, POSITION_REGISTER, x86_mem_base(POSITION_REGISTER, size));
    state.position_back = (uint8_t)size;
    block_draft_note(translation, pc, state);
    x86_mov_mem_imm(hot, X86_SIZE_32, x86_mem_base(POSITION_REGISTER, -size),
                    (int32_t)event_header(translation->block->index, record));
    translation->draft->events.is_recorded = true;
    translation->draft->events.is_told = true;
}

static void put_block_record(struct translation *translation, struct app_pc pc)
{
    put_record(translation, pc, trail_plain, EVENT_RECORD_BLOCK);
    block_draft_note(translation, pc, trail_plain);
}

void x86_put_events_before(struct translation *translation, unsigned which)
{
    const struct event_plan *plan = &translation->draft->events;
    struct app_pc pc = x86_block_of(translation)->insns[which].pc;
    bool check = event_plan_checks_before(plan, which);
    bool record = event_plan_records_before(plan, which);

    if (!check && !record)
        return;
    block_draft_note(translation, pc, trail_plain);
    x86_take_position(translation);
    block_draft_note(translation, pc, trail_plain);
    if (record)
        put_block_record(translation, pc);
    if (check)
        put_check(translation, pc, plan->flags_free);
}

void x86_put_events_at_end(struct translation *translation, struct app_pc pc, enum arch_flow flow)
{
    const struct event_plan *plan = &translation->draft->events;

    if (translation->draft->count == 0)
        return;
    if (events_have_blocks(event_plan_events(translation)) && !plan->is_recorded &&
        event_plan_record_at_end(translation, flow) == EVENT_RECORD_BLOCK)
        put_block_record(translation, pc);
    if (plan->check && !plan->is_checked && !event_plan_checks_itself(plan, flow))
        put_check(translation, pc, false);
}

static void put_sp(struct translation *translation)
{
    x86_mov_mem_reg(&translation->hot, X86_SIZE_64, x86_mem_base(POSITION_REGISTER, EVENT_SP_OFFSET), X86_RSP);
}

static void put_target(struct translation *translation, enum event_record record)
{
    x86_mov_mem_reg(&translation->hot, X86_SIZE_64,
                    x86_mem_base(POSITION_REGISTER, (int32_t)event_target_offset(record)), TARGET_REGISTER);
}

void x86_put_event_call(struct translation *translation, const struct x86_insn *insn, struct trail_state state)
{
    struct trail_state done = {.progress = TRAIL_LEFT};

    if (!events_have_calls(event_plan_events(translation)))
        return;
    put_sp(translation);
    put_record(translation, insn->pc, state, EVENT_RECORD_CALL);
    block_draft_note(translation, app_pc_of(insn->target), done);
}

void x86_put_event_call_indirect(struct translation *translation, struct app_pc pc, struct trail_state state)
{
    if (!events_have_calls(event_plan_events(translation)))
        return;
    put_sp(translation);
    put_target(translation, EVENT_RECORD_CALL_TARGET);
    put_record(translation, pc, state, EVENT_RECORD_CALL_TARGET);
}

void x86_put_event_return(struct translation *translation, struct app_pc pc, struct trail_state state)
{
    enum event_record record = translation->draft->events.is_recorded ? EVENT_RECORD_RETURN_LATE : EVENT_RECORD_RETURN;

    if (!(event_plan_events(translation) & GAIT_EVENT_RET))
        return;
    put_target(translation, record);
    put_record(translation, pc, state, record);
}

void x86_put_event_check_indirect(struct translation *translation, const struct x86_insn *insn)
{
    const struct event_plan *plan = &translation->draft->events;

    if (!plan->check_at_end || plan->is_checked)
        return;
    put_check_by_count(translation);
    if (insn->gpr_read & X86_GPR_BIT(X86_RCX))
        x86_mov_reg_mem(&translation->hot, X86_SIZE_64, X86_RCX, register_home(X86_RCX));
}

/* SPDX-License-Identifier: MIT */
/*
 * Branches, calls, returns and system calls: the ends of blocks. Direct targets become exits, indirect ones a lookup.
 * Calls push the original return address, in one store, so that a return can be served from it. Traps stay what they
 * are. What cannot be translated (far branches) leaves the cache and runs natively.
 */
#include "arch/host_cpu.h"
#include "arch/x86_64/stalker/frequent_code.h"
#include "arch/x86_64/stalker/translate.h"
#include "stalker/stalker_engine.h"
#include "stalker/system_call.h"

/* pop rcx */
#define POP_TARGET (0x58 | TARGET_REGISTER)

/* Leaves the cache at the instruction. */
static void put_leave(struct translation *translation, const struct x86_insn *insn)
{
    block_draft_note(translation, insn->pc, trail_plain);
    x86_put_exit(translation, 0, BLOCK_EXIT_LEAVE, insn->pc);
}

static void put_continuation_as(struct translation *translation, unsigned which, enum block_exit_kind kind,
                                struct app_pc next)
{
    block_draft_note(translation, next, trail_plain);
    x86_put_exit(translation, which, kind, next);
}

static void put_continuation(struct translation *translation, unsigned which, struct app_pc next)
{
    put_continuation_as(translation, which, translation_continue(translation, next), next);
}

static void put_branch(struct translation *translation, const struct x86_insn *insn)
{
    block_draft_note(translation, insn->pc, trail_plain);
    x86_put_exit_if(translation, 0, insn->opcode & 15, app_pc_of(insn->target));
    put_continuation(translation, 1, x86_insn_next(insn));
}

/* loop and jrcxz, with their prefixes but 66, which had its effect on the target: around a jump. */
static void put_branch_count(struct translation *translation, const struct x86_insn *insn, const uint8_t *bytes)
{
    struct code_writer *hot = &translation->hot;
    struct trail_state left = {.progress = TRAIL_LEFT};
    struct app_pc next = x86_insn_next(insn);
    struct x86_label taken;

    block_draft_note(translation, insn->pc, trail_plain);
    x86_label_init(&taken);
    for (unsigned i = 0; i <= insn->opcode_offset; i++)
        if (bytes[i] != 0x66)
            code_writer_put_u8(hot, bytes[i]);
    code_writer_put_u8(hot, 0);
    if (code_writer_overflowed(hot))
        return;
    x86_label_use_short(&taken, hot, code_writer_offset(hot) - 1);
    block_draft_note(translation, next, trail_plain);
    x86_put_exit(translation, 1, BLOCK_EXIT_JUMP, next);
    x86_label_bind(&taken, hot);
    block_draft_note(translation, app_pc_of(insn->target), left);
    x86_put_exit(translation, 0, BLOCK_EXIT_JUMP, app_pc_of(insn->target));
}

static void put_transaction(struct translation *translation, const struct x86_insn *insn)
{
    struct cache_pc stub = x86_put_stub(translation, 0, BLOCK_EXIT_JUMP, app_pc_of(insn->target));

    block_draft_note(translation, insn->pc, trail_plain);
    x86_align_field(&translation->hot, 2, 4);
    x86_xbegin_pc(&translation->hot, stub);
    x86_note_place(translation, 0);
    put_continuation(translation, 1, x86_insn_next(insn));
}

static void push_return_address(struct translation *translation, struct app_pc address)
{
    if ((uint64_t)(int32_t)address.value == address.value) {
        x86_push_imm(&translation->hot, (int32_t)address.value);
        return;
    }
    /* push qword ptr [rip + ...] */
    x86_put_relative(&translation->hot, 0x35ff, 2, x86_put_constant(&translation->cold, address.value));
}

static void put_call(struct translation *translation, const struct x86_insn *insn)
{
    struct trail_state pushed = {.sp_add = 8};
    struct app_pc target = app_pc_of(insn->target);

    block_draft_note(translation, insn->pc, trail_plain);
    push_return_address(translation, x86_insn_next(insn));
    block_draft_note(translation, insn->pc, pushed);
    x86_put_event_call(translation, insn, pushed);
    x86_put_exit(translation, 0, BLOCK_EXIT_JUMP, target);
}

/* The instruction's memory operand; its registers must be the program's. */
static struct x86_mem operand_of(const struct x86_insn *insn)
{
    struct x86_mem memory =
        x86_mem_index(insn->base, insn->index, insn->scale == 0 ? 1 : insn->scale, (int32_t)insn->displacement);

    if (insn->address_bits == 32)
        memory = x86_mem_address_32(memory);
    return x86_mem_segment(insn->segment, memory);
}

static void load_target(struct translation *translation, const struct x86_insn *insn)
{
    struct trail_state saved = {.homes = BRANCH_SET};
    struct code_writer *hot = &translation->hot;

    if ((insn->gpr_read) & X86_GPR_BIT(X86_R11))
        x86_take_register(translation);
    block_draft_note(translation, insn->pc, saved);
    if (!insn->is_memory) {
        if (insn->rm != TARGET_REGISTER)
            x86_mov_reg_reg(hot, X86_SIZE_64, TARGET_REGISTER, insn->rm);
    } else if (!(insn->properties & X86_PC_RELATIVE)) {
        x86_mov_reg_mem(hot, X86_SIZE_64, TARGET_REGISTER, operand_of(insn));
    } else if (insn->segment == X86_SEGMENT_NONE && address_fits_rel32(code_writer_pc(hot).value, insn->target) &&
               address_fits_rel32(code_writer_pc(hot).value + 16, insn->target)) {
        x86_mov_reg_mem(hot, X86_SIZE_64, TARGET_REGISTER, x86_mem_address(insn->target));
    } else {
        x86_mov_reg_imm(hot, X86_SIZE_64, TARGET_REGISTER, insn->target);
        x86_mov_reg_mem(hot, X86_SIZE_64, TARGET_REGISTER,
                        x86_mem_segment(insn->segment, x86_mem_base(TARGET_REGISTER, 0)));
    }
    x86_take_position(translation);
    block_draft_note(translation, insn->pc, saved);
}

static void put_jump_indirect(struct translation *translation, const struct x86_insn *insn)
{
    struct trail_state done = {.homes = BRANCH_SET, .pc = TRAIL_PC_BRANCHED};

    x86_put_branch_save(translation, insn);
    load_target(translation, insn);
    block_draft_note(translation, insn->pc, done);
    x86_put_branch_indirect(translation);
}

static void put_call_indirect(struct translation *translation, const struct x86_insn *insn)
{
    struct trail_state done = {.homes = BRANCH_SET, .pc = TRAIL_PC_BRANCHED, .sp_add = 8};
    struct trail_state pushed = {.homes = BRANCH_SET, .sp_add = 8};

    x86_put_branch_save(translation, insn);
    x86_put_event_check_indirect(translation, insn);
    load_target(translation, insn);
    push_return_address(translation, x86_insn_next(insn));
    block_draft_note(translation, insn->pc, pushed);
    x86_put_event_call_indirect(translation, insn->pc, pushed);
    block_draft_note(translation, insn->pc, done);
    x86_put_branch_indirect(translation);
}

static void put_return(struct translation *translation, const struct x86_insn *insn)
{
    struct trail_state done = {.homes = BRANCH_SET, .pc = TRAIL_PC_BRANCHED, .sp_add = -8};
    struct trail_state popped = {.homes = BRANCH_SET, .sp_add = -8};
    struct code_writer *hot = &translation->hot;

    x86_put_branch_save(translation, insn);
    x86_put_event_check_indirect(translation, insn);
    code_writer_put_u8(hot, POP_TARGET);
    block_draft_note(translation, insn->pc, popped);
    x86_put_event_return(translation, insn->pc, popped);
    if (insn->immediate_size != 0) {
        struct trail_state popping = {.homes = BRANCH_SET, .pc = TRAIL_PC_IN_TARGET};

        popping.sp_add = (uint16_t)insn->immediate;
        done.sp_add -= (uint16_t)insn->immediate;
        block_draft_note(translation, insn->pc, popping);
        x86_lea(hot, X86_SIZE_64, X86_RSP, x86_mem_base(X86_RSP, (uint16_t)insn->immediate));
    }
    block_draft_note(translation, insn->pc, done);
    x86_put_branch_indirect(translation);
}

void x86_put_call_piece(struct code_writer *writer, struct app_pc next, uint64_t thread_base)
{
    static const uint8_t wrgsbase_rcx[] = {0xf3, 0x48, 0x0f, 0xae, 0xd9};
    struct x86_label child;

    x86_label_init(&child);
    x86_plain(writer, X86_SYSCALL);
    x86_mov_reg_reg(writer, X86_SIZE_32, X86_RCX, X86_RAX);
    x86_loop_label(writer, X86_JRCXZ, X86_SIZE_64, &child);
    x86_mov_reg_imm(writer, X86_SIZE_64, X86_RCX, next.value);
    x86_jmp_mem(writer, thread_field(THREAD_GATE_CALLED));
    x86_label_bind(&child, writer);
    /* A system call would take registers, and there is nowhere to put them: without the instruction it keeps ours. */
    if (host_cpu_has_base_insns()) {
        x86_mov_reg_imm(writer, X86_SIZE_64, X86_RCX, thread_base);
        code_writer_put_bytes(writer, wrgsbase_rcx, sizeof(wrgsbase_rcx));
    }
    x86_mov_reg_imm(writer, X86_SIZE_64, X86_RCX, next.value);
    x86_jmp_reg(writer, X86_RCX);
}

/*
 * Most system calls run in place. A table tells which ones need the engine; rcx, which the kernel overwrites, is free
 * for looking there, and the flags, which it copies to r11, stay as they are.
 */
static void put_system_call(struct translation *translation, const struct x86_insn *insn)
{
    struct code_writer *hot = &translation->hot;
    struct trail_state saved = {.homes = X86_GPR_BIT(X86_RCX)};
    struct trail_state done = {.is_pc_register = 1};
    struct app_pc next = x86_insn_next(insn);
    bool is_told = translation->cache->engine->teller != NULL;
    struct x86_label ordinary, told;

    x86_label_init(&ordinary);
    x86_label_init(&told);
    block_draft_note(translation, insn->pc, trail_plain);
    x86_mov_mem_reg(hot, X86_SIZE_64, register_home(X86_RCX), X86_RCX);
    block_draft_note(translation, insn->pc, saved);
    x86_extend_reg_reg(hot, X86_MOVZX_16, X86_SIZE_32, X86_RCX, X86_RAX);
    x86_extend_reg_mem(hot, X86_MOVZX_8, X86_SIZE_32, X86_RCX,
                       x86_mem_base(X86_RCX, system_call_table_address(translation->cache->engine)));
    x86_loop_label(hot, X86_JRCXZ, X86_SIZE_64, &ordinary);
    x86_mov_reg_mem(hot, X86_SIZE_64, X86_RCX, register_home(X86_RCX));
    x86_put_exit(translation, 1, BLOCK_EXIT_SYSTEM_CALL, insn->pc);
    x86_label_bind(&ordinary, hot);
    x86_take_register(translation);
    block_draft_note(translation, insn->pc, saved);
    x86_plain(hot, X86_SYSCALL);
    block_draft_note(translation, next, done);
    if (is_told) {
        x86_mov_reg_mem(hot, X86_SIZE_64, X86_RCX, thread_field(THREAD_CALL_KEY));
        x86_lea(hot, X86_SIZE_64, X86_RCX, x86_mem_index(X86_RSP, X86_RCX, 1, 0));
        x86_loop_label(hot, X86_JRCXZ, X86_SIZE_64, &told);
    }
    x86_mov_reg_imm(hot, X86_SIZE_64, X86_RCX, next.value);
    block_draft_note(translation, next, trail_plain);
    x86_take_position(translation);
    put_continuation_as(translation, 0, is_told ? BLOCK_EXIT_JUMP : translation_continue(translation, next), next);
    if (!is_told)
        return;
    x86_label_bind(&told, hot);
    block_draft_note(translation, next, done);
    x86_mov_reg_imm(hot, X86_SIZE_64, X86_RCX, next.value);
    x86_jmp_mem(hot, thread_field(THREAD_GATE_CALLED));
}

/* The engine is asked each time: there are few such calls in programs of 64 bits. */
static void put_foreign_call(struct translation *translation, const struct x86_insn *insn, const uint8_t *bytes)
{
    block_draft_note(translation, insn->pc, trail_plain);
    x86_put_exit(translation, 1, BLOCK_EXIT_FOREIGN_CALL, insn->pc);
    block_draft_note(translation, insn->pc, trail_plain);
    x86_put_plain(translation, insn, bytes);
    put_continuation(translation, 0, x86_insn_next(insn));
}

/* Raises its signal here, at the address or, for breakpoints, behind it; whoever handles that may go on anywhere. */
static void put_trap(struct translation *translation, const struct x86_insn *insn, const uint8_t *bytes)
{
    struct app_pc next = x86_insn_next(insn);

    block_draft_note(translation, insn->pc, trail_plain);
    code_writer_put_bytes(&translation->hot, bytes, insn->length);
    block_draft_note(translation, next, trail_plain);
    x86_put_exit(translation, 0, BLOCK_EXIT_JUMP, next);
}

static bool is_syscall(const struct x86_insn *insn)
{
    return insn->mnemonic == X86_MNEMONIC_syscall;
}

static bool is_int80(const struct x86_insn *insn)
{
    return insn->map == X86_MAP_PRIMARY && insn->opcode == 0xcd && (uint8_t)insn->immediate == 0x80;
}

/* Whether it names a target that no exit can have: with a prefix that takes all but 16 bits from it. */
static bool is_out_of_reach(const struct translation *translation, const struct x86_insn *insn)
{
    switch (insn->flow) {
    case X86_FLOW_JUMP:
    case X86_FLOW_BRANCH:
    case X86_FLOW_BRANCH_COUNT:
    case X86_FLOW_CALL:
    case X86_FLOW_TRANSACTION:
        return !block_reaches(translation->block, app_pc_of(insn->target));
    default:
        return false;
    }
}

/* What has to be done when the block's last instruction is reached. */
static void put_before_flow(struct translation *translation, const struct x86_insn *insn)
{
    x86_put_counts(translation, insn->pc, false);
    block_draft_note(translation, insn->pc, trail_plain);
    x86_take_position(translation);
    x86_put_events_at_end(translation, insn->pc, x86_event_flow(insn));
}

void x86_put_flow(struct translation *translation, const struct x86_insn *insn, const uint8_t *bytes)
{
    if (!block_draft_joins(translation))
        put_before_flow(translation, insn);
    translation->is_open = false;
    if ((insn->properties & X86_OPERAND_SIZE_BY_VENDOR && insn->size_index == 0) ||
        is_out_of_reach(translation, insn)) {
        put_leave(translation, insn);
        return;
    }
    switch (insn->flow) {
    case X86_FLOW_JUMP:
        block_draft_note(translation, insn->pc, trail_plain);
        x86_put_exit(translation, 0, BLOCK_EXIT_JUMP, app_pc_of(insn->target));
        break;
    case X86_FLOW_BRANCH:
        put_branch(translation, insn);
        break;
    case X86_FLOW_BRANCH_COUNT:
        put_branch_count(translation, insn, bytes);
        break;
    case X86_FLOW_CALL:
        put_call(translation, insn);
        break;
    case X86_FLOW_JUMP_INDIRECT:
        put_jump_indirect(translation, insn);
        break;
    case X86_FLOW_CALL_INDIRECT:
        put_call_indirect(translation, insn);
        break;
    case X86_FLOW_RETURN:
        put_return(translation, insn);
        break;
    case X86_FLOW_TRANSACTION:
        put_transaction(translation, insn);
        break;
    case X86_FLOW_TRAP:
        put_trap(translation, insn, bytes);
        break;
    case X86_FLOW_SYSTEM_CALL:
        if (is_syscall(insn)) {
            put_system_call(translation, insn);
        } else if (is_int80(insn)) {
            put_foreign_call(translation, insn, bytes);
        } else {
            put_leave(translation, insn);
        }
        break;
    default:
        put_leave(translation, insn);
        break;
    }
}

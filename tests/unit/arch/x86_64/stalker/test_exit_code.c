/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/stalker/exit_code.h"

#include "base/code_memory.h"
#include "stalker/block_link.h"
#include "stalker/translation.h"
#include "support/check.h"
#include "support/stalker_lab.h"

#if defined(__x86_64__)

#define JMP_BYTES 5

static const struct stalker_lab_options leaving = {.fill = STALKER_LAB_LEAVES};
static struct stalker_lab lab;
static struct machine_state initial;
static struct run_result result;

static bool is_in_one_word(uint64_t place, size_t size_bytes)
{
    return place / 8 == (place + size_bytes - 1) / 8;
}

static struct x86_insn insn_at(uint64_t place)
{
    struct x86_insn insn = {0};

    CHECK_EQUAL(x86_decode((const uint8_t *)(uintptr_t)place, 15, app_pc_of(place), 0, &insn), 0);
    return insn;
}

/* Without the lock nothing may be linked; NULL: to the exit's stub. */
static void link_exit(struct block_exit *exit, struct block *to)
{
    mutex_lock(&lab.cache->lock);
    block_unlink(lab.cache, exit);
    if (to != NULL)
        block_link(lab.cache, exit, to);
    mutex_unlock(&lab.cache->lock);
}

/* Where a run of the block stops. */
static uint64_t stop_of(const struct block *block)
{
    stalker_lab_state(&lab, block->start, &initial);
    stalker_lab_run_raw(&lab, block->entry, &initial, &result);
    return run_result_stop_pc(&result);
}

/* Ends in all ways that have exits, each after a different number of bytes. */
static void branches_can_be_changed_by_one_store(void)
{
    stalker_lab_init(&lab, &leaving);
    for (size_t lead = 0; lead < 24; lead++) {
        struct app_pc start = stalker_lab_write_at(&lab, lead * 256);
        struct block *branch, *jump;

        for (size_t i = 0; i < lead; i++)
            x86_nops(&lab.writer, 1);
        x86_jcc_pc(&lab.writer, X86_EQUAL, cache_pc_of(start.value + 0x8000), X86_REACH_NEAR);
        x86_jmp_pc(&lab.writer, cache_pc_of(start.value + 0x9000), X86_REACH_NEAR);
        branch = stalker_lab_obtain(&lab, start, false);
        CHECK_EQUAL(branch->exits[0].kind, BLOCK_EXIT_JUMP);
        CHECK(is_in_one_word(block_exit_place(&branch->exits[0]).value, 4));
        CHECK_EQUAL(branch->exits[1].kind, BLOCK_EXIT_ADJACENT);
        CHECK(is_in_one_word(block_exit_place(&branch->exits[1]).value, JMP_BYTES));
        jump = code_cache_linked(lab.cache, &branch->exits[1]);
        CHECK(jump != NULL && is_in_one_word(block_exit_place(&jump->exits[0]).value, 4));
        /* The displacement is that of a branch to the stub. */
        CHECK_EQUAL(insn_at(block_exit_place(&jump->exits[0]).value - 1).target,
                    block_exit_stub(&jump->exits[0]).value);
        CHECK_EQUAL(insn_at(block_exit_place(&branch->exits[0]).value - 2).target,
                    block_exit_stub(&branch->exits[0]).value);
    }
    stalker_lab_deinit(&lab);
}

static void a_stub_says_which_exit_it_is_and_changes_nothing(void)
{
    struct block *block;

    stalker_lab_init(&lab, &leaving);
    stalker_lab_write_at(&lab, 0);
    x86_jcc_pc(&lab.writer, X86_EQUAL, cache_pc_of((uintptr_t)lab.code.base + 0x8000), X86_REACH_NEAR);
    block = stalker_lab_obtain(&lab, app_pc_of((uintptr_t)lab.code.base), false);
    stalker_lab_state(&lab, block->start, &initial);
    initial.rflags |= X86_FLAG_ZF | X86_FLAG_CF | X86_FLAG_OF;
    stalker_lab_run_raw(&lab, block->entry, &initial, &result);
    CHECK_EQUAL(run_result_stop_pc(&result), stalker_lab_gate_exit(&lab));
    CHECK_EQUAL(lab.thread.exit, block_exit_number(block, 0));
    CHECK(memcmp(result.state.gpr, initial.gpr, sizeof(initial.gpr)) == 0);
    CHECK_EQUAL(result.state.rflags & X86_FLAGS_STATUS, initial.rflags & X86_FLAGS_STATUS);
    initial.rflags &= ~(uint64_t)X86_FLAG_ZF;
    stalker_lab_run_raw(&lab, block->entry, &initial, &result);
    CHECK_EQUAL(code_cache_exit(lab.cache, lab.thread.exit)->kind, BLOCK_EXIT_LEAVE);
    stalker_lab_deinit(&lab);
}

static void a_placeholder_becomes_a_jump_and_a_placeholder_again(void)
{
    static const uint8_t nop[JMP_BYTES] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
    struct block *block, *next, *other;
    struct block_exit *exit;
    void *place;

    stalker_lab_init(&lab, &leaving);
    stalker_lab_write_at(&lab, 0);
    x86_jcc_pc(&lab.writer, X86_EQUAL, cache_pc_of((uintptr_t)lab.code.base + 0x8000), X86_REACH_NEAR);
    x86_jmp_pc(&lab.writer, cache_pc_of((uintptr_t)lab.code.base + 0x9000), X86_REACH_NEAR);
    block = stalker_lab_obtain(&lab, app_pc_of((uintptr_t)lab.code.base), false);
    other = stalker_lab_obtain(&lab, app_pc_of((uintptr_t)lab.code.base + 0x8000), false);
    exit = &block->exits[1];
    next = code_cache_linked(lab.cache, exit);
    place = (void *)(uintptr_t)block_exit_place(exit).value;
    CHECK(memcmp(place, nop, sizeof(nop)) == 0);
    CHECK_EQUAL(next->entry.value, block_exit_place(exit).value + JMP_BYTES);

    link_exit(exit, NULL);
    CHECK(code_cache_linked(lab.cache, exit) == NULL);
    CHECK_EQUAL(insn_at(block_exit_place(exit).value).flow, X86_FLOW_JUMP);
    CHECK_EQUAL(insn_at(block_exit_place(exit).value).target, block_exit_stub(exit).value);
    CHECK_EQUAL(stop_of(block), stalker_lab_gate_exit(&lab));
    CHECK_EQUAL(lab.thread.exit, block_exit_number(block, 1));

    link_exit(exit, other);
    CHECK(code_cache_linked(lab.cache, exit) == other);
    CHECK_EQUAL(insn_at(block_exit_place(exit).value).target, other->entry.value);
    stop_of(block);
    CHECK_EQUAL(lab.thread.exit, block_exit_number(other, 0));

    link_exit(exit, next);
    CHECK(code_cache_linked(lab.cache, exit) == next);
    CHECK(memcmp(place, nop, sizeof(nop)) == 0);
    stop_of(block);
    CHECK_EQUAL(lab.thread.exit, block_exit_number(next, 0));
    stalker_lab_deinit(&lab);
}

/* A block that is out of reach of all others. */
static struct block *far_block(struct arena *far)
{
    struct block *away;

    CHECK_EQUAL(arena_init(far, STALKER_LAB_HIGH, 4096, ARENA_CODE), 0);
    memset(far->base, STALKER_LAB_LEAVES, far->size_bytes);
    away = stalker_lab_obtain(&lab, app_pc_of((uintptr_t)far->base + 0x123), false);
    CHECK(away != NULL && !address_fits_rel32((uintptr_t)lab.code.base, away->entry.value));
    return away;
}

/* Runs the block to where an exit leaves the cache. */
static void check_leaves(const struct block *block, const struct block *by, unsigned which)
{
    CHECK_EQUAL(stop_of(block), stalker_lab_gate_exit(&lab));
    CHECK_EQUAL(lab.thread.exit, block_exit_number(by, which));
    CHECK(memcmp(result.state.gpr, initial.gpr, sizeof(initial.gpr)) == 0);
}

static void blocks_out_of_reach_are_linked_through_a_long_jump(void)
{
    struct block *block, *next, *away;
    struct arena far;

    stalker_lab_init(&lab, &leaving);
    stalker_lab_write_at(&lab, 0);
    x86_jcc_pc(&lab.writer, X86_EQUAL, cache_pc_of((uintptr_t)lab.code.base + 0x8000), X86_REACH_NEAR);
    x86_jmp_pc(&lab.writer, cache_pc_of((uintptr_t)lab.code.base + 0x9000), X86_REACH_NEAR);
    block = stalker_lab_obtain(&lab, app_pc_of((uintptr_t)lab.code.base), false);
    next = code_cache_linked(lab.cache, &block->exits[1]);
    away = far_block(&far);

    link_exit(&next->exits[0], away);
    check_leaves(next, away, 0);
    link_exit(&next->exits[0], NULL);
    check_leaves(next, next, 0);

    link_exit(&block->exits[1], away);
    check_leaves(block, away, 0);
    link_exit(&block->exits[1], next);
    check_leaves(block, next, 0);
    stalker_lab_deinit(&lab);
    arena_deinit(&far);
}

static void without_room_for_a_long_jump_the_exit_stays_as_it_is(void)
{
    struct code_writer writer;
    struct block *block, *away;
    struct arena far;
    size_t room;

    stalker_lab_init(&lab, &leaving);
    stalker_lab_write_at(&lab, 0);
    x86_jmp_pc(&lab.writer, cache_pc_of((uintptr_t)lab.code.base + 0x9000), X86_REACH_NEAR);
    block = stalker_lab_obtain(&lab, app_pc_of((uintptr_t)lab.code.base), false);
    away = far_block(&far);
    room = code_memory_room(code_cache_slab_of(lab.cache, block)->cold);
    CHECK_EQUAL(code_memory_reserve(code_cache_slab_of(lab.cache, block)->cold, room, &writer), 0);
    x86_nops(&writer, room);
    CHECK_EQUAL(code_memory_commit(code_cache_slab_of(lab.cache, block)->cold, &writer), 0);
    link_exit(&block->exits[0], away);
    check_leaves(block, block, 0);
    CHECK(code_cache_linked(lab.cache, &block->exits[0]) == NULL);
    CHECK_EQUAL(away->incoming, 0);
    stalker_lab_deinit(&lab);
    arena_deinit(&far);
}

static const struct check_case cases[] = {
    CHECK_CASE(branches_can_be_changed_by_one_store),
    CHECK_CASE(a_stub_says_which_exit_it_is_and_changes_nothing),
    CHECK_CASE(a_placeholder_becomes_a_jump_and_a_placeholder_again),
    CHECK_CASE(blocks_out_of_reach_are_linked_through_a_long_jump),
    CHECK_CASE(without_room_for_a_long_jump_the_exit_stays_as_it_is),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("the lab is for x86-64");
}

#endif

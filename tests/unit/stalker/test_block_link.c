/* SPDX-License-Identifier: MIT */
#include "stalker/block_link.h"

#include "support/check.h"
#include "support/stalker_lab.h"

#if defined(__x86_64__)

#define SOURCES 5

static const struct stalker_lab_options leaving = {.fill = STALKER_LAB_LEAVES};
static struct stalker_lab lab;
static struct machine_state initial;
static struct run_result result;

static void link_to(struct block_exit *exit, struct block *to)
{
    mutex_lock(&lab.cache->lock);
    block_link(lab.cache, exit, to);
    mutex_unlock(&lab.cache->lock);
}

static void unlink_exit(struct block_exit *exit)
{
    mutex_lock(&lab.cache->lock);
    block_unlink(lab.cache, exit);
    mutex_unlock(&lab.cache->lock);
}

static void unlink_incoming(struct block *block)
{
    mutex_lock(&lab.cache->lock);
    block_unlink_incoming(lab.cache, block);
    mutex_unlock(&lab.cache->lock);
}

/* A block that jumps to `target`. */
static struct block *jump_block(size_t offset, uint64_t target)
{
    struct app_pc start = stalker_lab_write_at(&lab, offset);

    x86_jmp_pc(&lab.writer, cache_pc_of(target), X86_REACH_NEAR);
    return stalker_lab_obtain(&lab, start, false);
}

/* The exit through which the cache is left when the block is run. */
static struct block_exit *exit_taken(struct block *block)
{
    stalker_lab_state(&lab, block->start, &initial);
    stalker_lab_run_raw(&lab, block->entry, &initial, &result);
    CHECK_EQUAL(run_result_stop_pc(&result), stalker_lab_gate_exit(&lab));
    return code_cache_exit(lab.cache, lab.thread.exit);
}

static size_t incoming_count(const struct block *block)
{
    size_t count = 0;

    for (uint32_t number = block->incoming; number != 0;) {
        const struct block_exit *exit = code_cache_exit(lab.cache, number - 1);

        CHECK(code_cache_linked(lab.cache, exit) == block);
        number = exit->next_incoming;
        count++;
    }
    return count;
}

static void only_jumps_can_be_linked(void)
{
    struct block_exit exit = {0};

    for (int kind = BLOCK_EXIT_NONE; kind <= BLOCK_EXIT_NO_CODE; kind++) {
        exit.kind = (uint8_t)kind;
        CHECK_EQUAL(block_exit_is_linkable(&exit), kind == BLOCK_EXIT_JUMP || kind == BLOCK_EXIT_ADJACENT);
    }
}

static void a_linked_exit_leads_to_the_block_and_an_unlinked_one_to_its_stub(void)
{
    struct block *from, *to;

    stalker_lab_init(&lab, &leaving);
    from = jump_block(0, (uintptr_t)lab.code.base + 0x1000);
    to = stalker_lab_obtain(&lab, app_pc_of((uintptr_t)lab.code.base + 0x1000), false);
    CHECK(exit_taken(from) == &from->exits[0]);
    for (int round = 0; round < 3; round++) {
        link_to(&from->exits[0], to);
        CHECK(code_cache_linked(lab.cache, &from->exits[0]) == to);
        CHECK_EQUAL(incoming_count(to), 1);
        CHECK(exit_taken(from) == &to->exits[0]);
        unlink_exit(&from->exits[0]);
        CHECK(code_cache_linked(lab.cache, &from->exits[0]) == NULL);
        CHECK_EQUAL(incoming_count(to), 0);
        CHECK(exit_taken(from) == &from->exits[0]);
    }
    unlink_exit(&from->exits[0]);
    CHECK(exit_taken(from) == &from->exits[0]);
    stalker_lab_deinit(&lab);
}

static void what_is_linked_or_cannot_be_stays_as_it_is(void)
{
    struct block *from, *to, *other;

    stalker_lab_init(&lab, &leaving);
    from = jump_block(0, (uintptr_t)lab.code.base + 0x1000);
    to = stalker_lab_obtain(&lab, app_pc_of((uintptr_t)lab.code.base + 0x1000), false);
    other = stalker_lab_obtain(&lab, app_pc_of((uintptr_t)lab.code.base + 0x2000), false);
    link_to(&from->exits[0], to);
    link_to(&from->exits[0], other);
    CHECK(code_cache_linked(lab.cache, &from->exits[0]) == to);
    CHECK_EQUAL(incoming_count(other), 0);
    CHECK(exit_taken(from) == &to->exits[0]);
    CHECK_EQUAL(to->exits[0].kind, BLOCK_EXIT_LEAVE);
    link_to(&to->exits[0], other);
    CHECK(code_cache_linked(lab.cache, &to->exits[0]) == NULL);
    CHECK_EQUAL(incoming_count(other), 0);
    CHECK(exit_taken(to) == &to->exits[0]);
    stalker_lab_deinit(&lab);
}

static void lists_of_incoming_exits_stay_whole(void)
{
    struct block *sources[SOURCES], *to;

    stalker_lab_init(&lab, &leaving);
    for (size_t i = 0; i < SOURCES; i++)
        sources[i] = jump_block(i * 64, (uintptr_t)lab.code.base + 0x1000);
    to = stalker_lab_obtain(&lab, app_pc_of((uintptr_t)lab.code.base + 0x1000), false);
    for (size_t i = 0; i < SOURCES; i++)
        link_to(&sources[i]->exits[0], to);
    CHECK_EQUAL(incoming_count(to), SOURCES);
    /* From the middle, from both ends. */
    unlink_exit(&sources[2]->exits[0]);
    CHECK_EQUAL(incoming_count(to), SOURCES - 1);
    unlink_exit(&sources[0]->exits[0]);
    unlink_exit(&sources[4]->exits[0]);
    CHECK_EQUAL(incoming_count(to), SOURCES - 3);
    CHECK(exit_taken(sources[2]) == &sources[2]->exits[0]);
    CHECK(exit_taken(sources[1]) == &to->exits[0]);
    CHECK(exit_taken(sources[3]) == &to->exits[0]);
    link_to(&sources[2]->exits[0], to);
    unlink_incoming(to);
    CHECK_EQUAL(to->incoming, 0);
    for (size_t i = 0; i < SOURCES; i++)
        CHECK(exit_taken(sources[i]) == &sources[i]->exits[0]);
    stalker_lab_deinit(&lab);
}

static void a_block_can_be_linked_to_itself(void)
{
    struct block *block;

    stalker_lab_init(&lab, &leaving);
    stalker_lab_write_at(&lab, 0);
    x86_unary_reg(&lab.writer, X86_DEC, X86_SIZE_64, X86_RAX);
    x86_jcc_pc(&lab.writer, X86_NOT_EQUAL, cache_pc_of((uintptr_t)lab.code.base), X86_REACH_NEAR);
    block = stalker_lab_obtain(&lab, app_pc_of((uintptr_t)lab.code.base), false);
    CHECK(code_cache_linked(lab.cache, &block->exits[0]) == block);
    CHECK_EQUAL(incoming_count(block), 1);
    CHECK_EQUAL(code_cache_exit(lab.cache, block_exit_number(block, 1))->kind, BLOCK_EXIT_ADJACENT);
    stalker_lab_state(&lab, block->start, &initial);
    initial.gpr[X86_RAX] = 10;
    stalker_lab_run_raw(&lab, block->entry, &initial, &result);
    CHECK_EQUAL(result.state.gpr[X86_RAX], 0);
    unlink_incoming(block);
    stalker_lab_run_raw(&lab, block->entry, &initial, &result);
    CHECK_EQUAL(result.state.gpr[X86_RAX], 9);
    CHECK_EQUAL(lab.thread.exit, block_exit_number(block, 0));
    stalker_lab_deinit(&lab);
}

static void a_note_changes_no_code(void)
{
    struct block *from, *to;

    stalker_lab_init(&lab, &leaving);
    from = jump_block(0, (uintptr_t)lab.code.base + 0x1000);
    to = stalker_lab_obtain(&lab, app_pc_of((uintptr_t)lab.code.base + 0x1000), false);
    block_link_note(&from->exits[0], to);
    CHECK(code_cache_linked(lab.cache, &from->exits[0]) == to);
    CHECK_EQUAL(incoming_count(to), 1);
    CHECK(exit_taken(from) == &from->exits[0]);
    stalker_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(only_jumps_can_be_linked),
    CHECK_CASE(a_linked_exit_leads_to_the_block_and_an_unlinked_one_to_its_stub),
    CHECK_CASE(what_is_linked_or_cannot_be_stays_as_it_is),
    CHECK_CASE(lists_of_incoming_exits_stay_whole),
    CHECK_CASE(a_block_can_be_linked_to_itself),
    CHECK_CASE(a_note_changes_no_code),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("the lab is for x86-64");
}

#endif

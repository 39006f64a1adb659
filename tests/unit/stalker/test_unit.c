/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "stalker/unit.h"

#include "base/code_memory.h"
#include "base/counters.h"
#include "gait/stalker.h"
#include "stalker/translation.h"
#include "support/check.h"
#include "support/stalker_lab.h"

#include <errno.h>
#include <sys/mman.h>

#if defined(__x86_64__)

static const struct stalker_lab_options leaving = {.fill = STALKER_LAB_LEAVES};
static struct stalker_lab lab;
static struct machine_state initial;
static struct run_result result;

static struct app_pc code_at(size_t offset)
{
    return app_pc_of((uintptr_t)lab.code.base + offset);
}

/* Conditional branches one behind the other: each ends a block and goes on to the next. */
static void put_branches(size_t count)
{
    for (size_t i = 0; i < count; i++)
        x86_jcc_pc(&lab.writer, X86_EQUAL, cache_pc_of(code_at(0x8000).value), X86_REACH_NEAR);
}

static void blocks_that_follow_are_translated_along(void)
{
    struct block *block;

    stalker_lab_init(&lab, &leaving);
    put_branches(3);
    block = stalker_lab_obtain(&lab, code_at(0), false);
    for (int i = 0; i < 3; i++) {
        struct block_exit *on = &block->exits[1];
        struct block *next = code_cache_linked(lab.cache, on);

        CHECK(block == code_cache_find(lab.cache, code_at(6 * (size_t)i)));
        CHECK_EQUAL(block->size_bytes, 6);
        CHECK_EQUAL(block->insn_count, 1);
        CHECK_EQUAL(on->kind, BLOCK_EXIT_ADJACENT);
        CHECK(next != NULL && next->incoming == block_exit_number(block, 1) + 1);
        /* Nothing but the placeholder is between them. */
        CHECK_EQUAL(block->entry.value + stalker_lab_code_bytes(&lab, block), next->entry.value);
        block = next;
    }
    CHECK_EQUAL(block->exits[0].kind, BLOCK_EXIT_LEAVE);
    CHECK(code_cache_find(lab.cache, code_at(0x8000)) == NULL);
    stalker_lab_deinit(&lab);
}

static void a_unit_has_so_many_blocks_and_no_more(void)
{
    struct block *block, *last;

    stalker_lab_init(&lab, &leaving);
    put_branches(UNIT_BLOCKS_MAX + 4);
    block = stalker_lab_obtain(&lab, code_at(0), false);
    CHECK(block != NULL);
    CHECK_EQUAL(hash_map_count(&lab.cache->blocks), UNIT_BLOCKS_MAX);
    last = code_cache_find(lab.cache, code_at(6 * (UNIT_BLOCKS_MAX - 1)));
    CHECK_EQUAL(last->exits[1].kind, BLOCK_EXIT_JUMP);
    CHECK(code_cache_linked(lab.cache, &last->exits[1]) == NULL);
    stalker_lab_deinit(&lab);
}

static void units_are_short_until_the_program_begins(void)
{
    stalker_lab_init(&lab, &leaving);
    put_branches(3 * UNIT_BLOCKS_MAX);
    lab.engine->options.program_entry = code_at(6 * UNIT_BLOCKS_MAX).value;
    CHECK(stalker_lab_obtain(&lab, code_at(0), false) != NULL);
    CHECK_EQUAL(hash_map_count(&lab.cache->blocks), UNIT_BLOCKS_BEFORE);
    CHECK(stalker_lab_obtain(&lab, code_at(6 * UNIT_BLOCKS_MAX), false) != NULL);
    CHECK_EQUAL(hash_map_count(&lab.cache->blocks), UNIT_BLOCKS_BEFORE + UNIT_BLOCKS_MAX);
    stalker_lab_deinit(&lab);
}

static void a_unit_stops_where_a_block_is_known(void)
{
    struct block *known, *block;

    stalker_lab_init(&lab, &leaving);
    put_branches(2);
    known = stalker_lab_obtain(&lab, code_at(6), false);
    block = stalker_lab_obtain(&lab, code_at(0), false);
    CHECK_EQUAL(block->exits[1].kind, BLOCK_EXIT_JUMP);
    CHECK(code_cache_linked(lab.cache, &block->exits[1]) == known);
    CHECK(code_cache_find(lab.cache, code_at(6)) == known);
    stalker_lab_deinit(&lab);
}

static void exits_to_known_blocks_are_linked(void)
{
    struct block *to, *block;

    stalker_lab_init(&lab, &leaving);
    to = stalker_lab_obtain(&lab, code_at(0x8000), false);
    stalker_lab_write_at(&lab, 0);
    put_branches(1);
    block = stalker_lab_obtain(&lab, code_at(0), false);
    CHECK(code_cache_linked(lab.cache, &block->exits[0]) == to);
    stalker_lab_state(&lab, code_at(0), &initial);
    initial.rflags |= X86_FLAG_ZF;
    stalker_lab_run_raw(&lab, block->entry, &initial, &result);
    CHECK_EQUAL(lab.thread.exit, block_exit_number(to, 0));
    stalker_lab_deinit(&lab);
}

static void blocks_have_so_many_instructions_and_no_more(void)
{
    struct block *block;

    stalker_lab_init(&lab, &leaving);
    for (size_t i = 0; i < BLOCK_INSNS_MAX + 10; i++)
        x86_nops(&lab.writer, 1);
    block = stalker_lab_obtain(&lab, code_at(0), false);
    CHECK_EQUAL(block->insn_count, BLOCK_INSNS_MAX);
    CHECK_EQUAL(block->size_bytes, BLOCK_INSNS_MAX);
    CHECK(code_cache_linked(lab.cache, &block->exits[0]) == code_cache_find(lab.cache, code_at(BLOCK_INSNS_MAX)));
    stalker_lab_deinit(&lab);
}

/* Puts more code at each instruction than iterators look for room for. */
static void inflate(void *context, struct gait_iterator *iterator)
{
    static const uint8_t nops[1500] = {[0 ... 1499] = 0x90};

    (void)context;
    while (gait_iterator_next(iterator, NULL)) {
        gait_iterator_put_code(iterator, nops, sizeof(nops));
        gait_iterator_keep(iterator);
    }
}

static const struct gait_transformer inflating = {.transform = inflate};

static void what_is_too_large_becomes_several_blocks(void)
{
    struct stalker_lab_options options = {.transformer = &inflating};
    uint64_t covered = 0;

    stalker_lab_init(&lab, &options);
    for (int i = 0; i < 200; i++)
        x86_unary_reg(&lab.writer, X86_INC, X86_SIZE_64, X86_RAX);
    stalker_lab_state(&lab, code_at(0), &initial);
    CHECK_EQUAL(stalker_lab_run(&lab, &initial, &result, NULL), STALKER_LAB_LEFT);
    CHECK_EQUAL(result.state.gpr[X86_RAX], initial.gpr[X86_RAX] + 200);
    for (uint32_t i = 0; i < lab.cache->block_count; i++) {
        const struct block *block = code_cache_block(lab.cache, i);

        CHECK(stalker_lab_code_bytes(&lab, block) <= 16384);
        covered += block->size_bytes;
    }
    /* With the trap behind them. */
    CHECK_EQUAL(covered, 601);
    CHECK(hash_map_count(&lab.cache->blocks) > 3);
    stalker_lab_deinit(&lab);
}

/* One instruction that finds no room at all. */
static void inflate_beyond_all_bounds(void *context, struct gait_iterator *iterator)
{
    static const uint8_t nops[20000];

    (void)context;
    while (gait_iterator_next(iterator, NULL)) {
        gait_iterator_put_code(iterator, nops, sizeof(nops));
        gait_iterator_keep(iterator);
    }
}

static const struct gait_transformer boundless = {.transform = inflate_beyond_all_bounds};

static void a_failure_changes_nothing(void)
{
    struct stalker_lab_options options = {.transformer = &boundless};
    struct block *untouched = NULL;
    size_t hot, cold;

    stalker_lab_init(&lab, &options);
    x86_nops(&lab.writer, 1);
    mutex_lock(&lab.cache->lock);
    CHECK_EQUAL(unit_translate(lab.cache, code_at(0), true, &untouched), -ENOSPC);
    hot = code_memory_committed(lab.cache->slabs->hot);
    cold = code_memory_committed(lab.cache->slabs->cold);
    mutex_unlock(&lab.cache->lock);
    CHECK(untouched == NULL);
    CHECK_EQUAL(lab.cache->block_count, 0);
    CHECK_EQUAL(hash_map_count(&lab.cache->blocks), 0);
    CHECK_EQUAL(hot + cold, 0);
    CHECK_EQUAL(lab.cache->indirect.entries[code_at(0).value % INDIRECT_TABLE_ENTRIES],
                stalker_lab_gate_indirect(&lab));
    stalker_lab_deinit(&lab);
}

static void slabs_follow_each_other_when_they_are_full(void)
{
    struct stalker_lab_options options = {.transformer = &inflating};
    unsigned slabs = 0;

    stalker_lab_init(&lab, &options);
    for (size_t offset = 0; offset < 0x8000; offset += 64) {
        stalker_lab_write_at(&lab, offset);
        for (int i = 0; i < 16; i++)
            x86_nops(&lab.writer, 1);
        x86_jmp_pc(&lab.writer, cache_pc_of(code_at(0xf000).value), X86_REACH_NEAR);
        CHECK(stalker_lab_obtain(&lab, code_at(offset), true) != NULL);
    }
    for (const struct cache_slab *slab = lab.cache->slabs; slab != NULL; slab = slab->next)
        slabs++;
    CHECK(slabs > 1);
    stalker_lab_state(&lab, code_at(0x7fc0), &initial);
    CHECK_EQUAL(stalker_lab_run(&lab, &initial, &result, NULL), STALKER_LAB_LEFT);
    stalker_lab_deinit(&lab);
}

static void indirect_branches_find_only_blocks_that_land(void)
{
    struct block *block;
    uint64_t *entry;

    stalker_lab_init(&lab, &leaving);
    put_branches(1);
    entry = &lab.cache->indirect.entries[code_at(0).value % INDIRECT_TABLE_ENTRIES];
    block = stalker_lab_obtain(&lab, code_at(0), false);
    CHECK(!block_has_landing(block));
    CHECK_EQUAL(block->landing_bytes, 0);
    CHECK_EQUAL(*entry, stalker_lab_gate_indirect(&lab));
    CHECK(stalker_lab_obtain(&lab, code_at(0), true) == block);
    CHECK(block_has_landing(block));
    CHECK_EQUAL(*entry, block_landing(block).value);
    block = stalker_lab_obtain(&lab, code_at(0x8000), true);
    CHECK_EQUAL(block_landing(block).value, block_code(block).value);
    CHECK(block_landing(block).value < block->entry.value);
    /* The blocks that were translated along do not land. */
    CHECK(!block_has_landing(code_cache_find(lab.cache, code_at(6))));
    stalker_lab_deinit(&lab);
}

static void without_room_for_a_landing_there_is_none(void)
{
    struct block *block;
    struct code_writer writer;
    size_t room;

    stalker_lab_init(&lab, &leaving);
    block = stalker_lab_obtain(&lab, code_at(0), false);
    room = code_memory_room(code_cache_slab_of(lab.cache, block)->cold);
    CHECK_EQUAL(code_memory_reserve(code_cache_slab_of(lab.cache, block)->cold, room, &writer), 0);
    x86_nops(&writer, room);
    CHECK_EQUAL(code_memory_commit(code_cache_slab_of(lab.cache, block)->cold, &writer), 0);
    mutex_lock(&lab.cache->lock);
    CHECK_EQUAL(unit_add_landing(lab.cache, block), -ENOSPC);
    mutex_unlock(&lab.cache->lock);
    CHECK(!block_has_landing(block));
    CHECK_EQUAL(lab.cache->indirect.entries[block->start.value % INDIRECT_TABLE_ENTRIES],
                stalker_lab_gate_indirect(&lab));
    stalker_lab_deinit(&lab);
}

static bool is_mapped(uint64_t address)
{
    unsigned char residence;

    return mincore((void *)(uintptr_t)address, 1, &residence) == 0;
}

/* The middle of a large piece of nothing. */
static uint64_t find_nowhere(void)
{
    const size_t size = 64u << 20;
    void *start = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    CHECK(start != MAP_FAILED);
    munmap(start, size);
    return (uintptr_t)start + size / 2;
}

/* Where a slab would be made for code that stood there, too. */
static void where_no_code_is_there_is_no_block(void)
{
    uint64_t nowhere;

    stalker_lab_init(&lab, &leaving);
    nowhere = find_nowhere();
    CHECK(stalker_lab_obtain(&lab, app_pc_of(8), false) == NULL);
    CHECK(stalker_lab_obtain(&lab, app_pc_of(STALKER_LAB_DATA), false) == NULL);
    CHECK(!is_mapped(nowhere));
    CHECK(stalker_lab_obtain(&lab, app_pc_of(nowhere), false) == NULL);
    CHECK(!is_mapped(nowhere));
    stalker_lab_deinit(&lab);
}

static void instructions_have_lengths_only_where_they_are_wanted(void)
{
    struct stalker_lab_options options = {.events = GAIT_EVENT_EXEC};
    struct block_notes *notes;
    struct block *block;

    stalker_lab_init(&lab, &leaving);
    CHECK(code_cache_notes(lab.cache, stalker_lab_obtain(&lab, code_at(0x100), false)) == NULL);
    stalker_lab_deinit(&lab);
    stalker_lab_init(&lab, &options);
    x86_nops(&lab.writer, 3);
    x86_nops(&lab.writer, 1);
    put_branches(1);
    block = stalker_lab_obtain(&lab, code_at(0), false);
    CHECK_EQUAL(block->insn_count, 3);
    notes = code_cache_notes(lab.cache, block);
    CHECK(notes != NULL && notes->length_count == 3 && memcmp(block_notes_lengths(notes), "\3\1\6", 3) == 0);
    CHECK_EQUAL(notes->snapshot_bytes, 0);
    CHECK_EQUAL(block->last_insn_bytes, 6);
    /* Native functions are blocks without any. */
    CHECK_EQUAL(stalker_engine_add_native(lab.engine, code_at(0x100)), 0);
    CHECK(stalker_lab_obtain(&lab, code_at(0x100), true) != NULL);
    stalker_lab_deinit(&lab);
}

static void code_can_be_translated_ahead_of_time(void)
{
    struct follow_configuration plain = {0}, blocks = {.events = GAIT_EVENT_BLOCK};
    struct code_cache *cache = NULL;
    uint64_t translated;

    stalker_lab_init(&lab, &leaving);
    CHECK_EQUAL(unit_prefetch(lab.engine, &plain, code_at(0), NULL), 0);
    CHECK(code_cache_find(lab.cache, code_at(0)) != NULL);
    translated = counter_read(COUNTER_blocks_translated);
    CHECK_EQUAL(unit_prefetch(lab.engine, &plain, code_at(0), NULL), 0);
    CHECK_EQUAL(counter_read(COUNTER_blocks_translated), translated);
    CHECK_EQUAL(unit_prefetch(lab.engine, &blocks, code_at(0), NULL), 0);
    mutex_lock(&lab.engine->lock);
    CHECK_EQUAL(stalker_engine_cache(lab.engine, &blocks, &cache), 0);
    mutex_unlock(&lab.engine->lock);
    CHECK(cache != lab.cache && code_cache_find(cache, code_at(0)) != NULL);
    CHECK_EQUAL(unit_prefetch(lab.engine, &plain, app_pc_of(8), NULL), -EFAULT);
    CHECK_EQUAL(unit_prefetch(lab.engine, &plain, app_pc_of(STALKER_LAB_DATA), NULL), -EFAULT);
    stalker_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(blocks_that_follow_are_translated_along),
    CHECK_CASE(a_unit_has_so_many_blocks_and_no_more),
    CHECK_CASE(units_are_short_until_the_program_begins),
    CHECK_CASE(a_unit_stops_where_a_block_is_known),
    CHECK_CASE(exits_to_known_blocks_are_linked),
    CHECK_CASE(blocks_have_so_many_instructions_and_no_more),
    CHECK_CASE(what_is_too_large_becomes_several_blocks),
    CHECK_CASE(a_failure_changes_nothing),
    CHECK_CASE(slabs_follow_each_other_when_they_are_full),
    CHECK_CASE(indirect_branches_find_only_blocks_that_land),
    CHECK_CASE(without_room_for_a_landing_there_is_none),
    CHECK_CASE(where_no_code_is_there_is_no_block),
    CHECK_CASE(instructions_have_lengths_only_where_they_are_wanted),
    CHECK_CASE(code_can_be_translated_ahead_of_time),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("the lab is for x86-64");
}

#endif

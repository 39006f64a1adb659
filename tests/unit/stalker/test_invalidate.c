/* SPDX-License-Identifier: MIT */
#include "stalker/invalidate.h"

#include "gait/stalker.h"
#include "stalker/block_link.h"
#include "stalker/unit.h"
#include "support/check.h"
#include "support/stalker_lab.h"

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

static void retire(struct block *block)
{
    mutex_lock(&lab.cache->lock);
    block_retire(lab.cache, block);
    mutex_unlock(&lab.cache->lock);
}

static uint64_t *table_entry(struct app_pc pc)
{
    return &lab.cache->indirect.entries[pc.value % INDIRECT_TABLE_ENTRIES];
}

/* "jmp target" at an offset. */
static struct block *jump_block(size_t offset, size_t target)
{
    stalker_lab_write_at(&lab, offset);
    x86_jmp_pc(&lab.writer, cache_pc_of(code_at(target).value), X86_REACH_NEAR);
    return stalker_lab_obtain(&lab, code_at(offset), true);
}

static uint32_t exit_taken(struct cache_pc from)
{
    stalker_lab_state(&lab, app_pc_of(0), &initial);
    stalker_lab_run_raw(&lab, from, &initial, &result);
    CHECK_EQUAL(run_result_stop_pc(&result), stalker_lab_gate_exit(&lab));
    return lab.thread.exit;
}

static void nobody_gets_into_a_retired_block(void)
{
    struct block *before, *block;

    stalker_lab_init(&lab, &leaving);
    block = jump_block(0x100, 0x2000);
    before = jump_block(0, 0x100);
    CHECK(code_cache_linked(lab.cache, &before->exits[0]) == block);
    CHECK_EQUAL(*table_entry(block->start), block_landing(block).value);
    retire(block);
    CHECK(block->is_retired);
    CHECK(code_cache_find(lab.cache, block->start) == NULL);
    CHECK_EQUAL(*table_entry(block->start), stalker_lab_gate_indirect(&lab));
    CHECK(code_cache_linked(lab.cache, &before->exits[0]) == NULL);
    CHECK_EQUAL(block->incoming, 0);
    CHECK_EQUAL(exit_taken(before->entry), block_exit_number(before, 0));
    /* Once is enough, also when there is a new one in its place. */
    CHECK(stalker_lab_obtain(&lab, block->start, true) != block);
    retire(block);
    CHECK(code_cache_find(lab.cache, code_at(0x100)) != NULL);
    stalker_lab_deinit(&lab);
}

static void whoever_is_in_a_retired_block_leaves_it_through_its_end(void)
{
    struct block *block, *linked;

    stalker_lab_init(&lab, &leaving);
    block = jump_block(0, 0x100);
    retire(block);
    CHECK_EQUAL(exit_taken(block->entry), block_exit_number(block, 0));
    linked = jump_block(0x200, 0x300);
    CHECK(stalker_lab_obtain(&lab, code_at(0x300), false) != NULL);
    mutex_lock(&lab.cache->lock);
    block_link(lab.cache, &linked->exits[0], code_cache_find(lab.cache, code_at(0x300)));
    mutex_unlock(&lab.cache->lock);
    retire(linked);
    CHECK_EQUAL(exit_taken(linked->entry), block_exit_number(code_cache_find(lab.cache, code_at(0x300)), 0));
    /* And when the block behind goes too, so does the way there. */
    retire(code_cache_find(lab.cache, code_at(0x300)));
    CHECK_EQUAL(exit_taken(linked->entry), block_exit_number(linked, 0));
    stalker_lab_deinit(&lab);
}

static void a_landing_of_another_block_in_the_table_stays(void)
{
    struct block *block;

    stalker_lab_init(&lab, &leaving);
    block = jump_block(0, 0x100);
    *table_entry(block->start) = 0x1234;
    retire(block);
    CHECK_EQUAL(*table_entry(block->start), 0x1234);
    stalker_lab_deinit(&lab);
}

static bool is_known_after(size_t start, size_t end)
{
    struct block *block = stalker_lab_obtain(&lab, code_at(0x100), false);

    CHECK_EQUAL(block->size_bytes, 5);
    code_cache_invalidate(lab.cache, code_at(start).value, code_at(end).value);
    return code_cache_find(lab.cache, code_at(0x100)) == block;
}

static void all_blocks_with_an_address_of_the_range_go(void)
{
    stalker_lab_init(&lab, &leaving);
    jump_block(0x100, 0x2000);
    CHECK(is_known_after(0x0, 0x100));
    CHECK(is_known_after(0x105, 0x200));
    CHECK(!is_known_after(0x0, 0x101));
    CHECK(!is_known_after(0x104, 0x105));
    CHECK(!is_known_after(0x104, 0x200));
    CHECK(!is_known_after(0x102, 0x103));
    CHECK(!is_known_after(0x0, 0x1000));
    stalker_lab_deinit(&lab);
}

static void all_caches_forget(void)
{
    struct follow_configuration other = {.events = GAIT_EVENT_BLOCK};
    struct code_cache *cache = NULL;
    struct block *block = NULL;

    stalker_lab_init(&lab, &leaving);
    jump_block(0x100, 0x2000);
    mutex_lock(&lab.engine->lock);
    CHECK_EQUAL(stalker_engine_cache(lab.engine, &other, &cache), 0);
    mutex_unlock(&lab.engine->lock);
    CHECK(cache != lab.cache);
    mutex_lock(&cache->lock);
    CHECK_EQUAL(unit_translate(cache, code_at(0x100), false, &block), 0);
    mutex_unlock(&cache->lock);
    stalker_invalidate(lab.engine, code_at(0x100).value, code_at(0x101).value);
    CHECK(code_cache_find(lab.cache, code_at(0x100)) == NULL);
    CHECK(code_cache_find(cache, code_at(0x100)) == NULL);
    stalker_lab_deinit(&lab);
}

/* They stand for the absence of instructions, which ends when some come. */
static void blocks_without_an_instruction_go_too(void)
{
    struct block *empty;
    uint64_t start;

    stalker_lab_init(&lab, &leaving);
    start = code_at(0x1000).value;
    stalker_lab_write_at(&lab, 0x1000);
    code_writer_put_u8(&lab.writer, 0x06);
    empty = stalker_lab_obtain(&lab, code_at(0x1000), false);
    CHECK_EQUAL(empty->size_bytes, 0);
    CHECK_EQUAL(empty->exits[0].kind, BLOCK_EXIT_NO_CODE);
    code_cache_invalidate(lab.cache, start - 1, start);
    CHECK(code_cache_find(lab.cache, empty->start) == empty);
    code_cache_invalidate(lab.cache, start + 4096, start + 8192);
    CHECK(code_cache_find(lab.cache, empty->start) == empty);
    code_cache_invalidate(lab.cache, start, start + 1);
    CHECK(code_cache_find(lab.cache, empty->start) == NULL);
    stalker_lab_deinit(&lab);
}

/* Code up to the end of its mapping, which may grow. */
static void blocks_that_end_where_code_does_go_when_more_comes(void)
{
    struct block *block;

    stalker_lab_init(&lab, &leaving);
    stalker_lab_write_at(&lab, 0xffd);
    x86_nops(&lab.writer, 1);
    /* Begins before the end and would end behind it. */
    x86_mov_reg_imm(&lab.writer, X86_SIZE_32, X86_RAX, 1);
    stalker_lab_write_end(&lab);
    CHECK_EQUAL(mprotect(lab.code.base + 0x1000, 0x1000, PROT_READ), 0);
    block = stalker_lab_obtain(&lab, code_at(0xffd), false);
    CHECK_EQUAL(block->size_bytes, 1);
    CHECK_EQUAL(block->exits[0].kind, BLOCK_EXIT_NO_CODE);
    CHECK_EQUAL(mprotect(lab.code.base + 0x1000, 0x1000, PROT_READ | PROT_EXEC), 0);
    stalker_invalidate(lab.engine, code_at(0x1000).value, code_at(0x2000).value);
    CHECK(code_cache_find(lab.cache, code_at(0xffd)) == NULL);
    block = stalker_lab_obtain(&lab, code_at(0xffd), false);
    CHECK_EQUAL(block->size_bytes, 1 + 5 + 1);
    stalker_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(nobody_gets_into_a_retired_block),
    CHECK_CASE(whoever_is_in_a_retired_block_leaves_it_through_its_end),
    CHECK_CASE(a_landing_of_another_block_in_the_table_stays),
    CHECK_CASE(all_blocks_with_an_address_of_the_range_go),
    CHECK_CASE(all_caches_forget),
    CHECK_CASE(blocks_without_an_instruction_go_too),
    CHECK_CASE(blocks_that_end_where_code_does_go_when_more_comes),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("the lab is for x86-64");
}

#endif

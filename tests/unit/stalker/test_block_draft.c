/* SPDX-License-Identifier: MIT */
#include "stalker/block_draft.h"

#include "arch/engine.h"
#include "gait/stalker.h"
#include "stalker/stalker_engine.h"
#include "support/check.h"

#define START    0x401000u
#define HOT      0x70001000u
#define COLD     0x70009000u
#define POSITION 27

static const struct engine_place place_of_machine = {.position_register = POSITION};
static const struct indirect_form indirect = {.within = {0x10000, 1ull << 46}, .shift = 2};
static const struct engine_emit emit = {.indirect = &indirect};
static const struct engine machine = {.emit = &emit, .place = &place_of_machine};
static struct stalker_engine engine = {.machine = &machine};
static struct code_cache *cache;
static uint8_t hot[1 << 16], cold[1024], notes[8192], original[600];
static struct cache_slab slab;
static struct block block;
static struct block_draft draft;
static struct translation translation;

/* A block of the bytes of `original`, of which nothing is decoded. */
static void begin(uint32_t events)
{
    const struct code_cache_options options = {.engine = &engine, .configuration = {.events = events}};

    CHECK_EQUAL(code_cache_create(&options, &cache), 0);
    slab = (struct cache_slab){.hot_range = {.start = HOT, .size_bytes = sizeof(hot)}, .notes = notes};
    slab.notes_bytes = slab.notes_present = sizeof(notes);
    block_init(&block, 5);
    block.start = app_pc_of(START);
    block.entry = cache_pc_of(HOT + 64);
    translation_init(&translation, cache);
    translation.slab = &slab;
    translation.block = &block;
    translation.block_count = 1;
    translation.draft = &draft;
    code_writer_init(&translation.hot, hot + 64, sizeof(hot) - 64, block.entry);
    code_writer_init(&translation.cold, cold, sizeof(cold), cache_pc_of(COLD));
    block_draft_begin_unknown(&translation);
}

static void end(void)
{
    code_cache_destroy(cache);
}

static void put_bytes(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        code_writer_put_u8(&translation.hot, 0x90);
}

/* What is kept of the block says of an offset in its code. */
static struct trail_point point_at(uint32_t offset)
{
    const struct code_place_record *place = &translation.places[0];
    struct trail_point point = {0};

    CHECK(trail_find(notes + place->trail, place->trail_bytes, offset, &point));
    return point;
}

static void a_place_has_what_was_noted_last(void)
{
    begin(0);
    block_draft_note(&translation, app_pc_of(START), trail_plain);
    put_bytes(3);
    block_draft_note(&translation, app_pc_of(START + 4), (struct trail_state){.homes = 6, .sp_add = 8});
    put_bytes(5);
    block_draft_note_copy(&translation, app_pc_of(START + 9));
    put_bytes(7);
    block_draft_keep(&translation);
    CHECK(!translation.hot.overflowed);
    CHECK_EQUAL(translation.places[0].start, 64);
    CHECK_EQUAL(translation.places[0].size_bytes, 15);
    CHECK_EQUAL(translation.places[0].block, 5);
    CHECK_EQUAL(point_at(2).app_offset, 0);
    CHECK_EQUAL(point_at(3).app_offset, 4);
    CHECK_EQUAL(point_at(7).state.homes, 6);
    CHECK_EQUAL(point_at(7).state.sp_add, 8);
    CHECK_EQUAL(point_at(10).app_offset, 11);
    CHECK_EQUAL(point_at(10).state.homes, 0);
    end();
}

static void notes_that_follow_from_the_last_one_are_not_kept(void)
{
    begin(0);
    block_draft_note_copy(&translation, app_pc_of(START));
    put_bytes(4);
    block_draft_note_copy(&translation, app_pc_of(START + 4));
    put_bytes(4);
    CHECK_EQUAL(draft.point_count, 1);
    block_draft_note_copy(&translation, app_pc_of(START + 9));
    CHECK_EQUAL(draft.point_count, 2);
    end();
}

static void what_holds_for_the_block_is_in_each_state(void)
{
    begin(GAIT_EVENT_BLOCK);
    CHECK_EQUAL(draft.homes, register_bit(POSITION));
    CHECK(!draft.events.is_told);
    block_draft_note(&translation, app_pc_of(START), trail_plain);
    CHECK_EQUAL(draft.points[0].state.homes, register_bit(POSITION));
    CHECK_EQUAL(draft.points[0].state.progress, TRAIL_UNTOLD);
    draft.homes = 0;
    draft.events.is_told = true;
    put_bytes(1);
    block_draft_note(&translation, app_pc_of(START), trail_plain);
    CHECK_EQUAL(draft.points[1].state.homes, 0);
    CHECK_EQUAL(draft.points[1].state.progress, TRAIL_TOLD);
    end();
}

static void callouts_are_counted_at_each_address(void)
{
    begin(0);
    for (unsigned i = 1; i <= TRAIL_CALLOUTS_MAX + 2; i++) {
        put_bytes(1);
        block_draft_note_callout(&translation, app_pc_of(START + 2), trail_plain);
        CHECK_EQUAL(draft.points[draft.point_count - 1].state.callouts_done,
                    i < TRAIL_CALLOUTS_MAX ? i : TRAIL_CALLOUTS_MAX);
    }
    put_bytes(1);
    block_draft_note_callout(&translation, app_pc_of(START + 6), trail_plain);
    CHECK_EQUAL(draft.points[draft.point_count - 1].state.callouts_done, 1);
    end();
}

static void counts_that_were_made_are_told_apart(void)
{
    begin(0);
    draft.count_pending = 2;
    CHECK(!block_draft_joins(&translation));
    for (unsigned i = 1; i <= 3; i++) {
        put_bytes(1);
        block_draft_note_counts(&translation, app_pc_of(START + 2));
        CHECK_EQUAL(draft.points[draft.point_count - 1].state.is_counted, i % 2);
    }
    CHECK(block_draft_joins(&translation));
    end();
    begin(GAIT_EVENT_CALL);
    CHECK(!block_draft_joins(&translation));
    end();
}

static void exits_have_their_stubs_next_in_cold_memory_but_for_adjacent_ones(void)
{
    begin(0);
    code_writer_put_u8(&translation.cold, 0);
    CHECK_EQUAL(block_draft_set_exit(&translation, 1, BLOCK_EXIT_JUMP, app_pc_of(START - 77)).value, COLD + 1);
    CHECK_EQUAL(block_exit_stub(&block.exits[1]).value, COLD + 1);
    CHECK_EQUAL(block_exit_target(&block.exits[1]).value, START - 77);
    CHECK_EQUAL(block.exits[1].kind, BLOCK_EXIT_JUMP);
    CHECK_EQUAL(slab.stubs_owed, 0);
    block_draft_set_exit(&translation, 0, BLOCK_EXIT_ADJACENT, app_pc_of(START + 9));
    CHECK(!block_exit_has_stub(&block.exits[0]));
    CHECK_EQUAL(slab.stubs_owed, 1);
    end();
}

static void code_that_may_change_is_read_from_a_copy(void)
{
    for (size_t i = 0; i < sizeof(original); i++)
        original[i] = (uint8_t)i;
    begin(0);
    block.start = app_pc_of((uintptr_t)original);
    translation.source_end = (uintptr_t)original + 4096;
    CHECK_EQUAL(block_draft_begin(&translation), 4096);
    CHECK(draft.source == original && !draft.is_checked);
    translation.is_changeable = true;
    CHECK_EQUAL(block_draft_begin(&translation), DRAFT_CHECKED_BYTES_MAX);
    CHECK(draft.is_checked && draft.source != original);
    CHECK(memcmp(draft.source, original, DRAFT_CHECKED_BYTES_MAX) == 0);
    translation.is_changeable = false;
    engine.options.trust = -1;
    CHECK_EQUAL(block_draft_begin(&translation), DRAFT_CHECKED_BYTES_MAX);
    CHECK(draft.is_checked);
    engine.options.trust = 0;
    end();
}

static void more_points_than_there_is_room_for_are_an_overflow(void)
{
    begin(0);
    for (unsigned i = 0; i < DRAFT_POINTS_MAX; i++) {
        block_draft_note(&translation, app_pc_of(START + 3 * i), trail_plain);
        put_bytes(1);
    }
    CHECK(!translation.hot.overflowed);
    block_draft_note(&translation, app_pc_of(START), trail_plain);
    CHECK(translation.hot.overflowed);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(a_place_has_what_was_noted_last),
    CHECK_CASE(notes_that_follow_from_the_last_one_are_not_kept),
    CHECK_CASE(what_holds_for_the_block_is_in_each_state),
    CHECK_CASE(callouts_are_counted_at_each_address),
    CHECK_CASE(counts_that_were_made_are_told_apart),
    CHECK_CASE(exits_have_their_stubs_next_in_cold_memory_but_for_adjacent_ones),
    CHECK_CASE(code_that_may_change_is_read_from_a_copy),
    CHECK_CASE(more_points_than_there_is_room_for_are_an_overflow),
};

CHECK_MAIN(cases)

/* SPDX-License-Identifier: MIT */
/* A thread in a piece of cold code is found there, with the state that was noted for that place. */

#include "arch/engine.h"
#include "gait/cpu_context.h"
#include "stalker/block.h"
#include "stalker/code_cache.h"
#include "stalker/code_place.h"
#include "stalker/stalker_engine.h"
#include "stalker/thread.h"
#include "stalker/trail.h"
#include "support/check.h"

#include <errno.h>

/* Registers of a CPU that there is not. */
#define SP_REGISTER 31
#define PC_REGISTER 30
#define ONE         1
#define OTHER       20

#define APP_START   0x400000u
#define CACHE_START 0x70001000u

static uint8_t notes[1024];
static struct cache_slab slab = {.cold_range = {.start = CACHE_START, .size_bytes = sizeof(notes)}};
static struct block block;
static const struct engine_place place_of_machine = {
    .sp_register = SP_REGISTER, .position_register = 27, .target_register = 17, .pc_register = PC_REGISTER};
static const struct engine machine = {.place = &place_of_machine};
static struct stalker_engine engine = {.machine = &machine};
static struct code_cache cache = {.engine = &engine};
static uint8_t code[1024];
static struct code_writer writer;

static void begin(void)
{
    slab.notes = notes;
    slab.notes_bytes = sizeof(notes);
    slab.notes_used = 0;
    block.start = app_pc_of(APP_START);
    code_writer_init(&writer, code, sizeof(code), cache_pc_of(CACHE_START));
}

static void end(void)
{
    code_place_list_deinit(&slab.cold_places);
}

static void put_bytes(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        code_writer_put_u8(&writer, 0x90);
}

static bool place_at(uint32_t offset, struct code_place *place_out)
{
    const struct code_place_record *record = code_place_find(&slab.cold_places, offset);

    if (record == NULL)
        return false;
    *place_out = (struct code_place){
        .start = cache_pc_of(CACHE_START + record->start),
        .block = &block,
        .trail = notes + record->trail,
        .trail_bytes = record->trail_bytes,
    };
    return true;
}

/* The registers of the program when the CPU has zeros at that place; the homes have ones. */
static struct gait_cpu_context program_at(uint32_t offset)
{
    struct stalker_thread thread = {.cache = &cache};
    struct gait_cpu_context cpu = {.pc = CACHE_START + offset};
    struct code_place place;

    memset(thread.context.registers, 1, sizeof(thread.context.registers));
    CHECK(place_at(offset, &place) && trail_recover(&thread, &place, &cpu) == 0);
    return cpu;
}

static void each_place_has_the_state_that_was_noted(void)
{
    struct cold_piece piece;
    struct code_place place;

    begin();
    put_bytes(16);
    cold_piece_begin(&piece, &block, &writer);
    cold_piece_note(&piece, &writer, app_pc_of(APP_START + 7),
                    (struct trail_state){.homes = register_bit(ONE) | register_bit(OTHER)});
    put_bytes(5);
    cold_piece_note(&piece, &writer, app_pc_of(APP_START - 3), (struct trail_state){.sp_add = 8});
    put_bytes(4);
    CHECK_EQUAL(cold_piece_end(&piece, &slab, &writer), 0);
    for (unsigned offset = 16; offset < 21; offset++) {
        CHECK_EQUAL(program_at(offset).pc, APP_START + 7);
        CHECK_EQUAL(program_at(offset).registers[ONE], 0x0101010101010101);
        CHECK_EQUAL(program_at(offset).registers[OTHER], 0x0101010101010101);
        CHECK_EQUAL(program_at(offset).registers[SP_REGISTER], 0);
    }
    for (unsigned offset = 21; offset < 25; offset++) {
        CHECK_EQUAL(program_at(offset).pc, APP_START - 3);
        CHECK_EQUAL(program_at(offset).registers[ONE], 0);
        CHECK_EQUAL(program_at(offset).registers[SP_REGISTER], 8);
    }
    CHECK(!place_at(15, &place));
    CHECK(!place_at(25, &place));
    end();
}

static void pieces_are_told_apart(void)
{
    struct code_place place;

    begin();
    for (unsigned i = 0; i < 20; i++) {
        struct cold_piece piece;

        cold_piece_begin(&piece, &block, &writer);
        cold_piece_note(&piece, &writer, app_pc_of(APP_START + i), (struct trail_state){0});
        put_bytes(10);
        CHECK_EQUAL(cold_piece_end(&piece, &slab, &writer), 0);
        put_bytes(3);
    }
    for (unsigned i = 0; i < 20; i++) {
        CHECK_EQUAL(program_at(13 * i).pc, APP_START + i);
        CHECK_EQUAL(program_at(13 * i + 9).pc, APP_START + i);
        CHECK(!place_at(13 * i + 10, &place));
    }
    end();
}

static void pieces_of_one_kind_share_their_trail(void)
{
    uint32_t used = 0;

    begin();
    for (unsigned i = 0; i < 20; i++) {
        struct trail_state state = {.homes = i < 10 ? register_bit(ONE) : register_bit(OTHER)};
        struct cold_piece piece;

        cold_piece_begin(&piece, &block, &writer);
        cold_piece_note(&piece, &writer, block.start, state);
        put_bytes(10);
        CHECK_EQUAL(cold_piece_end(&piece, &slab, &writer), 0);
        CHECK_EQUAL(slab.notes_used > used, i == 0 || i == 10);
        used = slab.notes_used;
    }
    for (unsigned i = 0; i < 20; i++) {
        CHECK_EQUAL(program_at(10 * i).registers[ONE] != 0, i < 10);
        CHECK_EQUAL(program_at(10 * i).registers[OTHER] != 0, i >= 10);
    }
    end();
}

/* All but the last states are the longest that there are, with addresses far from the block and from each other. */
static void the_longest_piece_is_kept_whole(void)
{
    static const struct trail_state longest = {.homes = UINT32_MAX & ~(1u << SP_REGISTER),
                                               .sp_add = INT8_MIN,
                                               .is_pc_register = 1,
                                               .scratch_register = PC_REGISTER};
    struct cold_piece piece;

    begin();
    cold_piece_begin(&piece, &block, &writer);
    for (unsigned i = 0; i < COLD_POINTS_MAX; i++) {
        cold_piece_note(&piece, &writer, app_pc_of(i % 2 ? UINT64_MAX - i : i), longest);
        put_bytes(100);
    }
    CHECK_EQUAL(cold_piece_end(&piece, &slab, &writer), 0);
    for (unsigned i = 0; i < COLD_POINTS_MAX; i++) {
        CHECK_EQUAL(program_at(100 * i + 99).pc, i % 2 ? UINT64_MAX - i : i);
        CHECK_EQUAL(program_at(100 * i).registers[SP_REGISTER], (uint64_t)INT8_MIN);
        CHECK_EQUAL(program_at(100 * i).registers[PC_REGISTER], i % 2 ? UINT64_MAX - i : i);
    }
    end();
}

/* Threads are found there, but what the program has is not known. */
static void nothing_is_known_before_the_first_note(void)
{
    struct stalker_thread thread = {.cache = &cache};
    struct gait_cpu_context cpu = {.pc = CACHE_START + 2};
    struct cold_piece piece;
    struct code_place place;

    begin();
    cold_piece_begin(&piece, &block, &writer);
    put_bytes(3);
    cold_piece_note(&piece, &writer, app_pc_of(APP_START), (struct trail_state){0});
    put_bytes(3);
    CHECK_EQUAL(cold_piece_end(&piece, &slab, &writer), 0);
    CHECK(place_at(2, &place));
    CHECK_EQUAL(trail_recover(&thread, &place, &cpu), -ENOENT);
    CHECK_EQUAL(program_at(3).pc, APP_START);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(each_place_has_the_state_that_was_noted), CHECK_CASE(pieces_are_told_apart),
    CHECK_CASE(pieces_of_one_kind_share_their_trail),    CHECK_CASE(the_longest_piece_is_kept_whole),
    CHECK_CASE(nothing_is_known_before_the_first_note),
};

CHECK_MAIN(cases)

/* SPDX-License-Identifier: MIT */
#include "stalker/trail.h"

#include "arch/engine.h"
#include "gait/cpu_context.h"
#include "gait/stalker.h"
#include "stalker/block.h"
#include "stalker/code_cache.h"
#include "stalker/code_place.h"
#include "stalker/stalker_engine.h"
#include "stalker/thread.h"
#include "support/check.h"
#include "support/guarded_bytes.h"
#include "support/random.h"

#include <errno.h>

#define POINTS_MAX 2048
#define TRAIL_MAX  (POINTS_MAX * 20)
#define ROUNDS     300

/* A CPU that there is not: it checks its landings in steps that add 1, and refuses to go to odd addresses. */
#define REGISTERS         32
#define SP_REGISTER       31
#define POSITION_REGISTER 27
#define TARGET_REGISTER   17
#define SOURCE_REGISTER   16
#define PC_REGISTER       30

static uint64_t landing_target(struct app_pc start, uint32_t offset, uint64_t held)
{
    return start.value + held - offset;
}

static uint32_t landing_source(const struct gait_cpu_context *cpu)
{
    return (uint32_t)cpu->registers[SOURCE_REGISTER];
}

static bool refuses(uint64_t target)
{
    return target % 2;
}

static const struct engine_place place_of_machine = {
    .sp_register = SP_REGISTER,
    .position_register = POSITION_REGISTER,
    .target_register = TARGET_REGISTER,
    .pc_register = PC_REGISTER,
    .landing_target = landing_target,
    .landing_source = landing_source,
    .refuses = refuses,
};
static const struct engine machine = {.place = &place_of_machine};

static struct trail_point points[POINTS_MAX];
static uint8_t trail[TRAIL_MAX];

static struct trail_state random_state(struct random *random)
{
    struct trail_state state = {0};

    if (random_below(random, 3) == 0)
        return state;
    if (random_below(random, 2))
        state.homes = (register_set)random_u64(random);
    if (random_below(random, 2))
        state.sp_add = (int8_t)random_u64(random);
    state.pc = (uint8_t)random_below(random, 4);
    state.is_pc_register = (uint8_t)random_below(random, 2);
    state.position_back = (uint8_t)(4 * random_below(random, 7));
    state.progress = (uint8_t)random_below(random, 3);
    state.taking = (uint8_t)random_below(random, 3);
    state.is_counted = (uint8_t)random_below(random, 2);
    if (random_below(random, 2))
        state.scratch_register = (uint8_t)random_below(random, REGISTERS + 1);
    return state;
}

/* Steps of all sizes: none, those of instructions, around the limits of each number of bytes, and far ones. */
static uint32_t random_step(struct random *random)
{
    switch (random_below(random, 6)) {
    case 0:
        return 0;
    case 1:
        return 0x3e + (uint32_t)random_below(random, 4);
    case 2:
        return 0x3ffe + (uint32_t)random_below(random, 4);
    case 3:
        return (uint32_t)random_below(random, 100000);
    default:
        return 1 + (uint32_t)random_below(random, 15);
    }
}

static int64_t random_app_step(struct random *random, uint32_t cache_step)
{
    switch (random_below(random, 5)) {
    case 0:
        return -(int64_t)random_step(random);
    case 1:
        return (int64_t)random_u64(random) >> (20 + random_below(random, 43));
    case 2:
        return 0;
    default:
        return cache_step;
    }
}

static size_t random_points(struct random *random)
{
    size_t count = random_below(random, 8) == 0 ? POINTS_MAX : 1 + random_below(random, 60);
    struct trail_point last = {0};

    for (size_t i = 0; i < count; i++) {
        uint32_t step = random_step(random);

        points[i].cache_offset = last.cache_offset + step;
        points[i].app_offset = (int64_t)((uint64_t)last.app_offset + (uint64_t)random_app_step(random, step));
        points[i].is_copy = random_below(random, 2);
        points[i].state = random_state(random);
        last = points[i];
    }
    return count;
}

static bool same_state(const struct trail_state *a, const struct trail_state *b)
{
    return a->homes == b->homes && a->sp_add == b->sp_add && a->pc == b->pc && a->is_pc_register == b->is_pc_register &&
           a->scratch_register == b->scratch_register && a->position_back == b->position_back &&
           a->progress == b->progress && a->callouts_done == b->callouts_done && a->taking == b->taking &&
           a->is_counted == b->is_counted;
}

static bool same_point(const struct trail_point *a, const struct trail_point *b)
{
    return a->cache_offset == b->cache_offset && a->is_copy == b->is_copy && a->app_offset == b->app_offset &&
           same_state(&a->state, &b->state);
}

/* What trail_find should find: the last point that is not behind the place or, in a copy, what it says of the place. */
static bool expected_point(size_t count, uint32_t cache_offset, struct trail_point *point_out)
{
    size_t before = 0;

    while (before < count && points[before].cache_offset <= cache_offset)
        before++;
    if (before == 0)
        return false;
    *point_out = points[before - 1];
    if (point_out->is_copy) {
        point_out->app_offset += cache_offset - point_out->cache_offset;
        point_out->cache_offset = cache_offset;
    }
    return true;
}

static void check_place(size_t bytes, size_t count, uint32_t cache_offset)
{
    struct trail_point expected = {0}, found;
    bool is_found = trail_find(trail, bytes, cache_offset, &found);

    CHECK_EQUAL(is_found, expected_point(count, cache_offset, &expected));
    if (is_found)
        CHECK(same_point(&found, &expected));
}

static void what_was_encoded_is_found_at_every_place(void)
{
    struct random random;

    random_init(&random, 1);
    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t count = random_points(&random);
        size_t bytes = trail_encode(points, count, trail, sizeof(trail));

        CHECK(bytes > 0);
        for (unsigned i = 0; i < 60; i++) {
            const struct trail_point *point = &points[random_below(&random, count)];

            check_place(bytes, count, point->cache_offset);
            check_place(bytes, count, point->cache_offset - (point->cache_offset > 0));
            check_place(bytes, count, point->cache_offset + 1);
        }
        check_place(bytes, count, 0);
        check_place(bytes, count, UINT32_MAX);
    }
}

static void every_value_of_a_state_comes_back(void)
{
    struct random random;

    random_init(&random, 6);
    for (unsigned homes = 0; homes <= UINT16_MAX; homes++) {
        struct trail_point point = {.cache_offset = homes & 3, .app_offset = 5}, found;
        size_t bytes;

        point.state.homes = homes << random_below(&random, 17);
        point.state.sp_add = (int8_t)(homes >> 2);
        point.state.pc = (uint8_t)(homes % 4);
        point.state.taking = (uint8_t)(homes / 4 % 3);
        point.state.is_counted = homes >> 7 & 1;
        point.state.is_pc_register = homes >> 5 & 1;
        point.state.scratch_register = (uint8_t)(homes % (REGISTERS + 1));
        bytes = trail_encode(&point, 1, trail, sizeof(trail));
        CHECK(bytes > 0 && trail_find(trail, bytes, 3, &found) && same_point(&found, &point));
    }
}

static void of_several_points_at_one_place_the_last_one_holds(void)
{
    static const struct trail_point several[] = {
        {.cache_offset = 0, .app_offset = 0},
        {.cache_offset = 7, .app_offset = 3, .state = {.homes = 0xffff}},
        {.cache_offset = 7, .app_offset = 4, .state = {.sp_add = -8}},
        {.cache_offset = 7, .app_offset = 5, .state = {.scratch_register = 3}},
        {.cache_offset = 9, .app_offset = 6},
    };
    size_t bytes = trail_encode(several, 5, trail, sizeof(trail));
    struct trail_point found;

    CHECK(trail_find(trail, bytes, 6, &found) && same_point(&found, &several[0]));
    CHECK(trail_find(trail, bytes, 7, &found) && same_point(&found, &several[3]));
    CHECK(trail_find(trail, bytes, 8, &found) && same_point(&found, &several[3]));
    CHECK(trail_find(trail, bytes, 9, &found) && same_point(&found, &several[4]));
}

static void a_place_before_the_first_point_belongs_to_none(void)
{
    static const struct trail_point one = {.cache_offset = 10, .app_offset = 0};
    size_t bytes = trail_encode(&one, 1, trail, sizeof(trail));
    struct trail_point found = {.cache_offset = 77};

    CHECK(!trail_find(trail, bytes, 9, &found));
    CHECK(!trail_find(trail, 0, 9, &found));
    CHECK_EQUAL(found.cache_offset, 77);
    CHECK(trail_find(trail, bytes, 10, &found));
}

/* A point follows another if trails with and without it say the same of all places up to the next. */
static void points_that_follow_add_nothing(void)
{
    struct random random;
    unsigned followed = 0;

    random_init(&random, 5);
    for (unsigned round = 0; round < 20000; round++) {
        struct trail_point first, second;
        uint32_t step = (uint32_t)random_below(&random, 4);
        bool is_same = true;

        points[0] = (struct trail_point){.cache_offset = 9, .is_copy = random_below(&random, 2), .app_offset = 5};
        points[1] = (struct trail_point){
            .cache_offset = 9 + step,
            .is_copy = random_below(&random, 2),
            .app_offset = 5 + (random_below(&random, 2) ? 0 : step),
        };
        points[1].state.sp_add = random_below(&random, 3) == 0 ? 8 : 0;
        for (uint32_t offset = points[1].cache_offset; offset < points[1].cache_offset + 3; offset++)
            is_same &= expected_point(1, offset, &first) && expected_point(2, offset, &second) &&
                       first.app_offset == second.app_offset && same_state(&first.state, &second.state);
        CHECK_EQUAL(trail_point_follows(&points[0], &points[1]), is_same);
        followed += is_same;
    }
    CHECK(followed > 100);
}

static void instructions_that_are_the_same_take_a_byte_each(void)
{
    for (uint32_t i = 0; i < 100; i++)
        points[i] = (struct trail_point){.cache_offset = i * 4, .app_offset = i * 4};
    CHECK_EQUAL(trail_encode(points, 100, trail, sizeof(trail)), 100);
}

/* Also: nothing is written behind the room that there is. */
static void a_trail_that_does_not_fit_is_refused(void)
{
    struct guarded_bytes guarded;
    struct random random;

    guarded_bytes_init(&guarded);
    random_init(&random, 2);
    for (unsigned round = 0; round < 30; round++) {
        size_t count = 1 + random_points(&random) % 40;
        size_t bytes = trail_encode(points, count, trail, sizeof(trail));

        for (size_t room = 0; room <= bytes; room++)
            CHECK_EQUAL(trail_encode(points, count, guarded.end - room, room), room < bytes ? 0 : bytes);
        CHECK(memcmp(guarded.end - bytes, trail, bytes) == 0);
    }
    guarded_bytes_deinit(&guarded);
}

static void nothing_behind_the_bytes_is_read(void)
{
    struct guarded_bytes guarded;
    struct trail_point found;
    struct random random;

    guarded_bytes_init(&guarded);
    random_init(&random, 3);
    for (unsigned round = 0; round < 100; round++) {
        size_t bytes = trail_encode(points, 1 + random_points(&random) % 30, trail, sizeof(trail));

        for (size_t cut = 0; cut <= bytes; cut++)
            trail_find(guarded_bytes_put(&guarded, trail, cut), cut, UINT32_MAX, &found);
    }
    for (unsigned round = 0; round < 20000; round++) {
        uint8_t noise[12];
        size_t size = random_below(&random, sizeof(noise) + 1);

        for (size_t i = 0; i < size; i++)
            noise[i] = (uint8_t)(random_u64(&random) | (random_below(&random, 2) ? 0x80 : 0));
        trail_find(guarded_bytes_put(&guarded, noise, size), size, (uint32_t)random_u64(&random), &found);
    }
    guarded_bytes_deinit(&guarded);
}

/* ---- recovery ---------------------------------------------------------------------------------------------------- */

#define CODE  0x7000
#define START 0x401000

static struct stalker_engine engine = {.machine = &machine};
static struct stalker_thread thread;
static struct code_cache cache = {.engine = &engine};

static uint64_t home_of(unsigned gpr)
{
    return 0xa0000 + gpr;
}

static uint64_t held_by(unsigned gpr)
{
    return 0xc0000 + gpr * 16;
}

static struct gait_cpu_context context_in_cache(void)
{
    struct gait_cpu_context cpu = {.pc = 1, .flags = 0x246};

    thread = (struct stalker_thread){.scratch = 0x5c5c, .event_position = 0xee, .cache = &cache};
    for (unsigned gpr = 0; gpr < REGISTERS; gpr++) {
        thread.context.registers[gpr] = home_of(gpr);
        cpu.registers[gpr] = held_by(gpr);
    }
    return cpu;
}

static int recover_at(const struct trail_point *point, uint8_t landing_bytes, uint64_t offset,
                      struct gait_cpu_context *cpu)
{
    struct block block = {
        .entry = cache_pc_of(CODE + 64),
        .landing_bytes = landing_bytes,
        .start = app_pc_of(START),
        .size_bytes = 100,
        .index = 7,
    };
    struct code_place place = {
        .start = block_code(&block),
        .block = &block,
        .trail = trail,
        .trail_bytes = (uint32_t)trail_encode(point, 1, trail, sizeof(trail)),
    };

    cpu->pc = place.start.value + offset;
    return trail_recover(&thread, &place, cpu);
}

static void recovery_takes_registers_from_where_the_state_says(void)
{
    struct random random;

    random_init(&random, 4);
    for (unsigned round = 0; round < 5000; round++) {
        struct trail_point point = {.cache_offset = 3, .app_offset = (int64_t)random_below(&random, 200) - 100};
        struct gait_cpu_context cpu = context_in_cache(), before = cpu;
        uint64_t expected[REGISTERS], pc;

        point.state = random_state(&random);
        CHECK_EQUAL(recover_at(&point, random_below(&random, 2) ? 64 : 0, 3, &cpu), 0);
        pc = START + (uint64_t)point.app_offset;
        if (point.state.pc == TRAIL_PC_IN_TARGET || point.state.pc == TRAIL_PC_BRANCHED)
            pc = before.registers[TARGET_REGISTER];
        if (point.state.pc == TRAIL_PC_IN_CHECK)
            pc = landing_target(app_pc_of(START), 0, before.registers[TARGET_REGISTER]);
        for (unsigned gpr = 0; gpr < REGISTERS; gpr++)
            expected[gpr] = point.state.homes >> gpr & 1 ? home_of(gpr) : held_by(gpr);
        if (point.state.scratch_register != 0)
            expected[point.state.scratch_register - 1] = 0x5c5c;
        if (point.state.is_pc_register)
            expected[PC_REGISTER] = pc;
        if (point.state.pc != TRAIL_PC_BRANCHED)
            expected[SP_REGISTER] += (uint64_t)(int64_t)point.state.sp_add;
        CHECK_EQUAL(cpu.pc, pc);
        CHECK_EQUAL(cpu.flags, 0x246);
        CHECK(memcmp(cpu.registers, expected, sizeof(expected)) == 0);
    }
}

static void recovery_keeps_the_position_of_events(void)
{
    static const struct trail_point with = {.state = {.homes = 1u << POSITION_REGISTER}};
    static const struct trail_point without = {.state = {.homes = 1u << 0}};
    struct gait_cpu_context cpu = context_in_cache();

    thread.with_position = true;
    CHECK_EQUAL(recover_at(&with, 0, 0, &cpu), 0);
    CHECK_EQUAL(thread.event_position, held_by(POSITION_REGISTER));
    CHECK_EQUAL(cpu.registers[POSITION_REGISTER], home_of(POSITION_REGISTER));
    cpu = context_in_cache();
    thread.with_position = true;
    CHECK_EQUAL(recover_at(&without, 0, 0, &cpu), 0);
    CHECK_EQUAL(thread.event_position, 0xee);
    cpu = context_in_cache();
    CHECK_EQUAL(recover_at(&with, 0, 0, &cpu), 0);
    CHECK_EQUAL(thread.event_position, 0xee);
}

static void a_record_that_is_not_valid_yet_is_taken_back(void)
{
    static const struct trail_point point = {.state = {.homes = 1u << POSITION_REGISTER, .position_back = 20}};
    struct gait_cpu_context cpu = context_in_cache();

    thread.with_position = true;
    CHECK_EQUAL(recover_at(&point, 0, 0, &cpu), 0);
    CHECK_EQUAL(thread.event_position, held_by(POSITION_REGISTER) - 20);
}

static struct event_cut cut_at(uint32_t events, int64_t app_offset, enum trail_progress progress, enum trail_pc pc)
{
    struct trail_point point = {.app_offset = app_offset};
    struct gait_cpu_context cpu = context_in_cache();

    cache.configuration.events = events;
    point.state.progress = (uint8_t)progress;
    point.state.pc = (uint8_t)pc;
    CHECK_EQUAL(recover_at(&point, 0, 0, &cpu), 0);
    cache.configuration.events = 0;
    return thread.event_cut;
}

static void recovery_tells_where_a_block_was_cut(void)
{
    struct event_cut cut = cut_at(GAIT_EVENT_EXEC, 5, TRAIL_TOLD, TRAIL_PC_HERE);

    CHECK(cut.is_cut && cut.is_told);
    CHECK_EQUAL(cut.block, 7);
    CHECK_EQUAL(cut.ran_bytes, 5);
    cut = cut_at(GAIT_EVENT_BLOCK, 99, TRAIL_UNTOLD, TRAIL_PC_HERE);
    CHECK(cut.is_cut && !cut.is_told);
    CHECK_EQUAL(cut.ran_bytes, 99);
    CHECK(cut_at(GAIT_EVENT_EXEC, 0, TRAIL_TOLD, TRAIL_PC_HERE).is_cut);
    CHECK(!cut_at(GAIT_EVENT_EXEC, 0, TRAIL_LEFT, TRAIL_PC_HERE).is_cut);
    CHECK(!cut_at(GAIT_EVENT_EXEC, 5, TRAIL_TOLD, TRAIL_PC_IN_TARGET).is_cut);
    CHECK(!cut_at(GAIT_EVENT_EXEC, 100, TRAIL_TOLD, TRAIL_PC_HERE).is_cut);
    CHECK(!cut_at(GAIT_EVENT_EXEC, -1, TRAIL_TOLD, TRAIL_PC_HERE).is_cut);
    CHECK(!cut_at(GAIT_EVENT_CALL, 5, TRAIL_TOLD, TRAIL_PC_HERE).is_cut);
}

static void recovery_refuses_a_place_that_no_point_covers(void)
{
    static const struct trail_point point = {.cache_offset = 8};
    struct gait_cpu_context cpu = context_in_cache(), before = cpu;

    CHECK_EQUAL(recover_at(&point, 0, 7, &cpu), -ENOENT);
    before.pc = cpu.pc;
    CHECK(memcmp(&cpu, &before, sizeof(cpu)) == 0);
    CHECK_EQUAL(recover_at(&point, 0, 8, &cpu), 0);
}

static void a_branch_is_found_in_the_trail(void)
{
    struct trail_point found,
        many[] = {
            {.cache_offset = 0},
            {.cache_offset = 9, .app_offset = 4, .state = {.pc = TRAIL_PC_IN_TARGET, .sp_add = 16}},
            {.cache_offset = 12, .app_offset = 4, .state = {.pc = TRAIL_PC_BRANCHED, .sp_add = -24}},
        };
    size_t bytes = trail_encode(many, 3, trail, sizeof(trail));

    CHECK(trail_find_branch(trail, bytes, &found));
    CHECK(same_point(&found, &many[2]));
    bytes = trail_encode(many, 2, trail, sizeof(trail));
    CHECK(!trail_find_branch(trail, bytes, &found));
}

/* Where a thread that was at an offset goes on: an offset, or -1. */
static int64_t behind_at(const struct trail_point *many, size_t count, uint32_t offset)
{
    static const struct gait_transformer transformer;
    struct block block = {.start = app_pc_of(START), .size_bytes = 100};
    struct code_place place = {
        .start = cache_pc_of(CODE),
        .block = &block,
        .trail = trail,
        .trail_bytes = (uint32_t)trail_encode(many, count, trail, sizeof(trail)),
    };
    struct gait_cpu_context cpu = context_in_cache();

    cpu.pc = CODE + offset;
    cache.configuration.transformer = &transformer;
    CHECK_EQUAL(trail_recover(&thread, &place, &cpu), 0);
    cache.configuration.transformer = NULL;
    return thread.behind.cache_pc == 0 ? -1 : (int64_t)(thread.behind.cache_pc - CODE);
}

/* A count by way of a register, another one by flags, a callout, and an instruction that takes the register. */
static void a_thread_goes_on_where_all_that_is_done_is_behind_it(void)
{
    static const register_set one = 1u << 1, sp = 1u << SP_REGISTER;
    static const struct trail_point many[] = {
        {.cache_offset = 0},
        {.cache_offset = 10, .state = {.homes = one, .taking = TRAIL_TAKING_BEGUN}},
        {.cache_offset = 20, .state = {.homes = one, .taking = TRAIL_TAKING_DONE}},
        {.cache_offset = 25},
        {.cache_offset = 30, .state = {.is_counted = 1}},
        {.cache_offset = 35, .state = {.homes = sp, .is_counted = 1}},
        {.cache_offset = 40, .state = {.homes = sp, .callouts_done = 1, .taking = TRAIL_TAKING_DONE}},
        {.cache_offset = 45, .state = {.callouts_done = 1, .is_counted = 1}},
        {.cache_offset = 50, .state = {.homes = one, .callouts_done = 1, .is_counted = 1}},
        {.cache_offset = 60, .state = {.homes = one, .pc = TRAIL_PC_IN_TARGET}},
    };
    static const int64_t expected[][2] = {{0, 0},   {5, 5},   {10, 10}, {15, 10}, {20, 25}, {27, 27}, {32, 32},
                                          {35, 30}, {40, 45}, {47, 47}, {50, 45}, {55, 45}, {60, -1}};

    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        CHECK_EQUAL(behind_at(many, sizeof(many) / sizeof(many[0]), (uint32_t)expected[i][0]), expected[i][1]);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_thread_goes_on_where_all_that_is_done_is_behind_it),
    CHECK_CASE(a_branch_is_found_in_the_trail),
    CHECK_CASE(what_was_encoded_is_found_at_every_place),
    CHECK_CASE(every_value_of_a_state_comes_back),
    CHECK_CASE(of_several_points_at_one_place_the_last_one_holds),
    CHECK_CASE(a_place_before_the_first_point_belongs_to_none),
    CHECK_CASE(points_that_follow_add_nothing),
    CHECK_CASE(instructions_that_are_the_same_take_a_byte_each),
    CHECK_CASE(a_trail_that_does_not_fit_is_refused),
    CHECK_CASE(nothing_behind_the_bytes_is_read),
    CHECK_CASE(recovery_takes_registers_from_where_the_state_says),
    CHECK_CASE(recovery_keeps_the_position_of_events),
    CHECK_CASE(a_record_that_is_not_valid_yet_is_taken_back),
    CHECK_CASE(recovery_tells_where_a_block_was_cut),
    CHECK_CASE(recovery_refuses_a_place_that_no_point_covers),
};

CHECK_MAIN(cases)

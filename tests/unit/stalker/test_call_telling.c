/* SPDX-License-Identifier: MIT */
#include "stalker/call_telling.h"

#include "arch/engine.h"
#include "stalker/stalker_engine.h"
#include "stalker/system_call.h"
#include "stalker/thread.h"
#include "support/check.h"

static struct made_call last;
static unsigned enter_count, left_count;
static bool may_return;

static void enters(struct stalker_thread *thread, const struct made_call *call, bool may)
{
    (void)thread;
    last = *call;
    may_return = may;
    enter_count++;
}

static void left(struct stalker_thread *thread, const struct made_call *call)
{
    (void)thread;
    last = *call;
    left_count++;
}

static const struct call_teller teller = {.enters = enters, .left = left};
static uint8_t table[65536];
static struct stalker_engine engine;
static struct stalker_thread thread;

static void begin(void)
{
    static const uint64_t numbers[2] = {1ull << 3, 1ull << 63};

    engine = (struct stalker_engine){.machine = engine_host(), .system_calls = table};
    thread = (struct stalker_thread){.engine = &engine};
    enter_count = left_count = 0;
    memset(table, 0, sizeof(table));
    call_telling_begin(&engine, &teller, numbers, 128);
}

static void make(uint64_t sp, uint64_t pc, long number, bool may_end)
{
    const struct system_call call = {.number = number, .arguments = {7, 8}};

    gait_cpu_stack_pointer_set(&thread.context, sp);
    thread.context.pc = pc;
    call_telling_makes(&thread, &call, may_end);
}

static void come_back(uint64_t sp, uint64_t pc, long result)
{
    gait_cpu_stack_pointer_set(&thread.context, sp);
    thread.context.pc = pc - 2;
    engine.machine->registers->system_call_done(&thread.context, result);
    thread.context.pc = pc;
    call_telling_returned(&thread, &thread.context);
}

static void numbers_above_those_that_are_known_are_as_the_last(void)
{
    begin();
    CHECK_EQUAL(table[3], SYSTEM_CALL_TOLD);
    CHECK_EQUAL(table[4], 0);
    CHECK_EQUAL(table[126], 0);
    CHECK_EQUAL(table[127], SYSTEM_CALL_TOLD);
    CHECK_EQUAL(table[65535], SYSTEM_CALL_TOLD);
}

static void a_call_is_told_when_it_comes_back(void)
{
    begin();
    make(0x7000, 0x100, 3, false);
    CHECK_EQUAL(thread.call_key + 0x7000, 0);
    CHECK_EQUAL(left_count, 0);
    come_back(0x7000, 0x102, -4);
    CHECK_EQUAL(left_count, 1);
    CHECK_EQUAL(last.number, 3);
    CHECK_EQUAL(last.result, -4);
    CHECK_EQUAL(last.sp, 0x7000);
    CHECK(thread.call_key + 0x7000 != 0);
    /* Once. */
    come_back(0x7000, 0x102, -4);
    CHECK_EQUAL(left_count, 1);
    CHECK_EQUAL(enter_count, 0);
}

static void handlers_make_others_meanwhile(void)
{
    begin();
    make(0x7000, 0x100, 3, false);
    make(0x6000, 0x200, 4, false);
    CHECK_EQUAL(thread.call_key + 0x6000, 0);
    come_back(0x6000, 0x202, 1);
    CHECK_EQUAL(last.number, 4);
    CHECK_EQUAL(thread.call_key + 0x7000, 0);
    come_back(0x7000, 0x102, 2);
    CHECK_EQUAL(last.number, 3);
    CHECK_EQUAL(left_count, 2);
}

static void what_is_made_again_began_the_first_time(void)
{
    uint64_t began;

    begin();
    make(0x7000, 0x100, 3, false);
    began = thread.told_calls[0].time;
    /* A signal comes while it is being made. */
    thread.context.pc = 0x100;
    call_telling_returned(&thread, &thread.context);
    make(0x7000, 0x100, 3, false);
    come_back(0x7000, 0x102, 0);
    CHECK_EQUAL(left_count, 1);
    CHECK_EQUAL(last.entered_time, began);
}

static void what_was_abandoned_is_not_told(void)
{
    begin();
    make(0x6000, 0x100, 3, false);
    make(0x7000, 0x200, 4, false);
    CHECK_EQUAL(thread.told_count, 1);
    come_back(0x7000, 0x202, 0);
    CHECK_EQUAL(last.number, 4);
    make(0x6000, 0x100, 3, false);
    /* One that nobody wants to know of returns with the same stack pointer. */
    come_back(0x6000, 0x300, 0);
    CHECK_EQUAL(left_count, 1);
    CHECK_EQUAL(thread.told_count, 0);
}

static void more_than_there_is_room_for_cost_the_last(void)
{
    begin();
    for (uint64_t i = 0; i < 2 * TOLD_CALLS_MAX; i++)
        make(0x90000 - i * 16, 0x100, 3, false);
    CHECK_EQUAL(thread.told_count, TOLD_CALLS_MAX);
    come_back(0x90000 - (2 * TOLD_CALLS_MAX - 1) * 16, 0x102, 0);
    CHECK_EQUAL(left_count, 1);
}

static void ends_are_told_before_they_come(void)
{
    const struct system_call call = {.number = 3, .arguments = {1}};

    begin();
    call_telling_ends(&thread, &call);
    CHECK_EQUAL(enter_count, 1);
    CHECK(!may_return);
    make(0x7000, 0x100, 4, true);
    CHECK_EQUAL(enter_count, 2);
    CHECK(may_return);
    CHECK_EQUAL(last.arguments[1], 8);
    call_telling_made(&thread, &call, 99, -2);
    CHECK_EQUAL(last.entered_time, 99);
    CHECK_EQUAL(last.result, -2);
}

static const struct check_case cases[] = {
    CHECK_CASE(numbers_above_those_that_are_known_are_as_the_last),
    CHECK_CASE(a_call_is_told_when_it_comes_back),
    CHECK_CASE(handlers_make_others_meanwhile),
    CHECK_CASE(what_is_made_again_began_the_first_time),
    CHECK_CASE(what_was_abandoned_is_not_told),
    CHECK_CASE(more_than_there_is_room_for_cost_the_last),
    CHECK_CASE(ends_are_told_before_they_come),
};

CHECK_MAIN(cases)

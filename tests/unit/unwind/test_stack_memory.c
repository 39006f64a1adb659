/* SPDX-License-Identifier: MIT */
#include "unwind/stack_memory.h"

#include "support/check.h"
#include "unwind/unwind_rule.h"

static struct stack_memory memory;
static uint64_t stack[64]; /* frames have four words each; the fourth is the return address */

static uint64_t place_of(unsigned word)
{
    return (uintptr_t)&stack[word];
}

/* The stack pointer of a frame, the innermost of which is 0. */
static uint64_t sp_of(unsigned frame)
{
    return place_of(4 * frame + 4);
}

static void note(unsigned which, unsigned frame, uint64_t fp, uint32_t rule)
{
    memory.notes.sp[which] = sp_of(frame);
    memory.notes.fp[which] = fp;
    memory.notes.rule[which] = rule;
}

/* Six frames, 100 to 105 from the inside out, of which the third keeps a pointer (in its second word) that the fourth
 * depends on. */
static void remember_six(bool is_whole)
{
    static const uint64_t pcs[] = {100, 101, 102, 103, 104, 105};

    stack_memory_init(&memory);
    memset(stack, 0, sizeof(stack));
    for (unsigned i = 0; i < 6; i++) {
        stack[4 * i + 3] = pcs[i];
        note(i, i, i >= 3 ? 7777 : 55, unwind_rule(UNWIND_SP, 4, 0));
    }
    memory.notes.rule[2] = unwind_rule(UNWIND_SP, 4, 3);
    stack[13] = 7777;
    memory.notes.rule[3] = unwind_rule(UNWIND_FP, 4, 0);
    memory.notes.rule[5] = unwind_rule(is_whole ? UNWIND_END : UNWIND_SP, 4, 0);
    stack_memory_update(&memory, 0, 6, pcs, is_whole);
    CHECK_EQUAL(memory.count, 6);
    CHECK_EQUAL(memory.is_whole, is_whole);
}

static bool has(uint64_t pc, uint64_t sp, uint64_t fp, uint32_t *frame)
{
    *frame = memory.count;
    return stack_memory_has(&memory, pc, sp, fp, frame);
}

static void frames_are_met_with_the_same_registers(void)
{
    uint32_t frame;

    remember_six(true);
    CHECK(has(100, sp_of(0), 55, &frame));
    CHECK_EQUAL(frame, 6);
    CHECK(has(104, sp_of(4), 1, &frame));
    CHECK_EQUAL(frame, 2);
    CHECK(has(105, sp_of(5), 1, &frame));
    CHECK_EQUAL(frame, 1);
    CHECK(!has(101, sp_of(0), 55, &frame));
    CHECK(!has(100, sp_of(0) + 8, 55, &frame));
    CHECK(!has(100, sp_of(0) - 8, 55, &frame));
    CHECK(!has(105, sp_of(6), 1, &frame));
    CHECK_EQUAL(frame, 0);
}

static void pointers_count_only_where_something_depends_on_them(void)
{
    uint32_t frame;

    remember_six(true);
    /* Those inside of the one that keeps it may have any. */
    CHECK(has(101, sp_of(1), 99, &frame));
    CHECK(has(102, sp_of(2), 99, &frame));
    CHECK(!has(103, sp_of(3), 99, &frame));
    CHECK(has(103, sp_of(3), 7777, &frame));
    /* Behind the last that depends on it, again any, unless nobody knows what comes then. */
    CHECK(has(104, sp_of(4), 99, &frame));
    remember_six(false);
    CHECK(!has(104, sp_of(4), 99, &frame));
}

static void unchanged_frames_are_repeated(void)
{
    uint64_t pcs[8] = {0};

    remember_six(true);
    CHECK_EQUAL(stack_memory_repeat(&memory, 6, 5, pcs), 0);
    for (unsigned i = 0; i < 5; i++)
        CHECK_EQUAL(pcs[i], 101 + i);
    CHECK_EQUAL(pcs[5], 0);
    pcs[1] = 0;
    CHECK_EQUAL(stack_memory_repeat(&memory, 3, 1, pcs), 0);
    CHECK_EQUAL(pcs[0], 104);
    CHECK_EQUAL(pcs[1], 0);
    CHECK_EQUAL(stack_memory_repeat(&memory, 1, 0, pcs), 0);
}

static void changed_frames_are_not(void)
{
    uint64_t pcs[8];

    for (unsigned changed = 1; changed < 6; changed++) {
        remember_six(true);
        stack[4 * changed + 3]++;
        CHECK_EQUAL(stack_memory_repeat(&memory, 6, 5, pcs), 6 - changed);
        CHECK_EQUAL(stack_memory_repeat(&memory, 6 - changed, 5 - changed, pcs), 0);
    }
    remember_six(true);
    stack[13]++;
    CHECK_EQUAL(stack_memory_repeat(&memory, 6, 5, pcs), 3);
    /* Who is there already has the pointer in a register. */
    CHECK_EQUAL(stack_memory_repeat(&memory, 3, 2, pcs), 0);
}

/* A walk that met the frame of 103 with two new ones inside, the second of which keeps the pointer elsewhere. */
static void new_frames_take_the_place_of_others(void)
{
    static const uint64_t pcs[] = {200, 201};
    uint64_t found[8] = {0};
    uint32_t frame;

    remember_six(true);
    note(0, 1, 1, unwind_rule(UNWIND_SP, 4, 0));
    note(1, 2, 2, unwind_rule(UNWIND_SP, 4, 2));
    stack[7] = 200;
    stack[11] = 201;
    stack[13] = 0;
    stack[14] = 7777;
    stack_memory_update(&memory, 3, 2, pcs, false);
    CHECK_EQUAL(memory.count, 5);
    CHECK(memory.is_whole);
    CHECK(has(200, sp_of(1), 99, &frame));
    CHECK_EQUAL(frame, 5);
    CHECK_EQUAL(stack_memory_repeat(&memory, 5, 4, found), 0);
    CHECK_EQUAL(found[0], 201);
    CHECK_EQUAL(found[1], 103);
    CHECK_EQUAL(found[3], 105);
    stack[14] = 1;
    CHECK_EQUAL(stack_memory_repeat(&memory, 5, 4, found), 3);
}

static void too_many_frames_are_forgotten(void)
{
    static uint64_t pcs[STACK_MEMORY_FRAMES];

    remember_six(true);
    stack_memory_update(&memory, 6, STACK_MEMORY_FRAMES - 6, pcs, false);
    CHECK_EQUAL(memory.count, STACK_MEMORY_FRAMES);
    remember_six(true);
    stack_memory_update(&memory, 6, STACK_MEMORY_FRAMES - 5, pcs, false);
    CHECK_EQUAL(memory.count, 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(frames_are_met_with_the_same_registers), CHECK_CASE(pointers_count_only_where_something_depends_on_them),
    CHECK_CASE(unchanged_frames_are_repeated),          CHECK_CASE(changed_frames_are_not),
    CHECK_CASE(new_frames_take_the_place_of_others),    CHECK_CASE(too_many_frames_are_forgotten),
};

CHECK_MAIN(cases)

/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "gait/stack.h"

#include "gait/clock.h"
#include "support/check.h"
#include "support/random.h"

#include <errno.h>
#include <unistd.h>

#define DEPTH_MAX 2000u

static uint64_t pcs[DEPTH_MAX + 100], expected[DEPTH_MAX];
static struct gait_stack stack;

static void begin(size_t capacity)
{
    memset(pcs, 0, sizeof(pcs));
    stack = (struct gait_stack){.size_bytes = sizeof(stack), .pcs = pcs, .capacity = capacity};
}

/* Functions with frames of many sizes, which call each other as a number says, and note where they return to. */
static __attribute__((noinline)) unsigned descend(unsigned depth, uint64_t path);

#define LEVEL(name, words)                                                                                             \
    static __attribute__((noinline)) unsigned name(unsigned depth, uint64_t path)                                      \
    {                                                                                                                  \
        volatile uint64_t room[words];                                                                                 \
        unsigned result;                                                                                               \
                                                                                                                       \
        expected[depth] = (uintptr_t)__builtin_return_address(0);                                                      \
        room[0] = path;                                                                                                \
        result = descend(depth, path / 3) + (unsigned)(room[0] - path);                                                \
        __asm__ volatile("" : "+r"(result));                                                                           \
        return result;                                                                                                 \
    }

LEVEL(small, 1)
LEVEL(medium, 13)
LEVEL(large, 150)

/* A frame of a size that is not known beforehand, on a stack that is aligned anew. */
static __attribute__((noinline)) unsigned odd(unsigned depth, uint64_t path)
{
    char aligned[64] __attribute__((aligned(64)));
    char sized[8 + path % 100];
    unsigned result;

    expected[depth] = (uintptr_t)__builtin_return_address(0);
    __asm__ volatile("" : : "r"(aligned), "r"(sized) : "memory");
    result = descend(depth, path / 3);
    __asm__ volatile("" : "+r"(result) : "r"(aligned), "r"(sized) : "memory");
    return result;
}

static bool with_odd_frames;

static unsigned descend(unsigned depth, uint64_t path)
{
    static unsigned (*const levels[])(unsigned depth, uint64_t path) = {small, medium, large};
    unsigned result;

    if (depth == 0) {
        CHECK_EQUAL(gait_stack_capture(&stack), 0);
        return 1;
    }
    result = with_odd_frames && depth % 7 == 3 ? odd(depth - 1, path) : levels[path % 3](depth - 1, path);
    __asm__ volatile("" : "+r"(result));
    return result;
}

/* Every second address is one that was noted, from the third on; those between them are not. */
static void check_stack(unsigned depth)
{
    CHECK(stack.count > 2 * depth || stack.count == stack.capacity);
    for (unsigned i = 0; i < depth && 2 * i + 2 < stack.count; i++)
        CHECK_EQUAL(pcs[2 * i + 2], expected[i]);
}

static void all_frames_are_there(void)
{
    struct random random;

    random_init(&random, 3);
    for (unsigned round = 0; round < 3000 && check_failures == 0; round++) {
        unsigned depth = 1 + (unsigned)random_below(&random, 60);

        begin(sizeof(pcs) / sizeof(pcs[0]));
        CHECK_EQUAL(descend(depth, random_u64(&random)), 1);
        check_stack(depth);
    }
}

/* Paths that have most in common with the one before, as they have in programs. */
static void stacks_that_change_a_little_are_right(void)
{
    struct random random;
    uint64_t path = 0;

    random_init(&random, 4);
    for (unsigned round = 0; round < 20000 && check_failures == 0; round++) {
        static uint64_t powers[] = {1, 3, 9, 27, 2187, 6561, 3486784401u, 10460353203u};

        path += powers[random_below(&random, 8)];
        begin(random_chance(&random, 1, 10) ? 1 + random_below(&random, 60) : sizeof(pcs) / sizeof(pcs[0]));
        CHECK_EQUAL(descend(20 + (unsigned)random_below(&random, 4), path), 1);
        check_stack(20);
    }
}

static void odd_frames_are_undone(void)
{
    with_odd_frames = true;
    all_frames_are_there();
    stacks_that_change_a_little_are_right();
    with_odd_frames = false;
}

static void deep_stacks_are_walked_to_their_end(void)
{
    for (unsigned round = 0; round < 3; round++) {
        begin(sizeof(pcs) / sizeof(pcs[0]));
        CHECK_EQUAL(descend(DEPTH_MAX / 2, 12345 + round), 1);
        check_stack(DEPTH_MAX / 2);
    }
}

static void stacks_are_cut_off_where_there_is_no_room(void)
{
    for (size_t capacity = 1; capacity < 50; capacity++) {
        begin(capacity);
        CHECK_EQUAL(descend(30, 777), 1);
        CHECK_EQUAL(stack.count, capacity);
        CHECK_EQUAL(pcs[capacity], 0);
        check_stack(30);
    }
}

static void stacks_tell_time_and_thread(void)
{
    struct gait_clock_pair before, after;

    begin(10);
    gait_clock_read(&before);
    CHECK_EQUAL(gait_stack_capture(&stack), 0);
    gait_clock_read(&after);
    CHECK(stack.time - before.counter <= after.counter - before.counter);
    CHECK_EQUAL(stack.tid, gettid());
}

static void bad_arguments_are_refused(void)
{
    begin(10);
    CHECK_EQUAL(gait_stack_capture(NULL), -EINVAL);
    stack.size_bytes = 0;
    CHECK_EQUAL(gait_stack_capture(&stack), -EINVAL);
    begin(0);
    CHECK_EQUAL(gait_stack_capture(&stack), -EINVAL);
    begin(10);
    stack.pcs = NULL;
    CHECK_EQUAL(gait_stack_capture(&stack), -EINVAL);
    CHECK_EQUAL(gait_stack_prepare(), 0);
    CHECK_EQUAL(gait_stack_prepare(), 0);
    CHECK_EQUAL(gait_stack_modules_changed(), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(bad_arguments_are_refused),
    CHECK_CASE(all_frames_are_there),
    CHECK_CASE(stacks_that_change_a_little_are_right),
    CHECK_CASE(odd_frames_are_undone),
    CHECK_CASE(deep_stacks_are_walked_to_their_end),
    CHECK_CASE(stacks_are_cut_off_where_there_is_no_room),
    CHECK_CASE(stacks_tell_time_and_thread),
};

CHECK_MAIN(cases)

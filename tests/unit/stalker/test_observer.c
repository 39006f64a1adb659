/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE /* gettid */
#include "gait/stalker.h"

#include "support/check.h"

#include <unistd.h>

struct seen {
    unsigned entered[GAIT_ENTRY_LEAVE + 1];
    unsigned translated;
    unsigned linked;
    uint64_t function_start; /* of which a translation and links are looked for */
    unsigned of_function;
    unsigned links_to_function;
    uint32_t tid;
};

static void entered(void *context, enum gait_entry why, uint32_t tid)
{
    struct seen *seen = context;
    volatile double vector = (double)tid;

    seen->entered[why]++;
    seen->tid = (uint32_t)vector;
}

static void translated(void *context, uint64_t start, uint64_t end)
{
    struct seen *seen = context;

    CHECK(end >= start);
    seen->translated++;
    seen->of_function += start == seen->function_start;
}

static void linked(void *context, uint64_t from_block, uint64_t to_block)
{
    struct seen *seen = context;

    (void)from_block;
    seen->linked++;
    seen->links_to_function += to_block == seen->function_start;
}

__attribute__((noinline)) static int twice(int number)
{
    __asm__ volatile("" : "+r"(number));
    return 2 * number;
}

/* Calls directly and through a pointer, and makes a system call that the engine has a part in. */
__attribute__((noinline)) static int work(int (*volatile function)(int))
{
    int sum = 0;

    for (int i = 0; i < 10; i++)
        sum += twice(i) + function(i);
    sum += (int)((uintptr_t)sbrk(0) & 0);
    return sum;
}

static void the_observer_is_told_what_happens_and_why(void)
{
    struct seen seen = {.function_start = (uintptr_t)twice};
    struct gait_observer observer = {entered, translated, linked, &seen};
    struct gait_stalker *stalker;
    struct gait_error err;
    unsigned before;

    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, &err), 0);
    gait_stalker_set_observer(stalker, &observer);
    CHECK_EQUAL(gait_stalker_follow_me(stalker, NULL, &err), 0);
    CHECK_EQUAL(work(twice), 180);
    gait_stalker_set_observer(stalker, NULL);
    before = seen.translated;
    CHECK_EQUAL(gait_stalker_is_following_me(stalker), true);
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, &err), 0);
    CHECK_EQUAL(seen.entered[GAIT_ENTRY_BEGIN], 1);
    CHECK(seen.entered[GAIT_ENTRY_INDIRECT] > 0);
    CHECK(seen.entered[GAIT_ENTRY_BRANCH] > 0);
    CHECK_EQUAL(seen.entered[GAIT_ENTRY_CHANGED], 0);
    CHECK_EQUAL(seen.tid, (uint32_t)gettid());
    CHECK_EQUAL(seen.of_function, 1);
    CHECK(seen.links_to_function > 0);
    CHECK(seen.linked > 0);
    /* Nobody is told any more. */
    CHECK_EQUAL(seen.translated, before);
    gait_stalker_destroy(stalker);
}

static void functions_may_be_missing(void)
{
    struct gait_observer observer = {0};
    struct gait_stalker *stalker;
    struct gait_error err;

    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, &err), 0);
    gait_stalker_set_observer(stalker, &observer);
    CHECK_EQUAL(gait_stalker_follow_me(stalker, NULL, &err), 0);
    CHECK_EQUAL(work(twice), 180);
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, &err), 0);
    gait_stalker_destroy(stalker);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_observer_is_told_what_happens_and_why),
    CHECK_CASE(functions_may_be_missing),
};

CHECK_MAIN(cases)

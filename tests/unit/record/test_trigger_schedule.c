/* SPDX-License-Identifier: MIT */
#include "record/trigger_schedule.h"

#include "support/check.h"

static const struct trigger triggers[] = {
    {.kind = TRIGGER_MANUAL},
    {.kind = TRIGGER_TIME, .text = "time=+30", .value = 30},
    {.kind = TRIGGER_EVERY, .text = "every=20", .value = 20},
    {.kind = TRIGGER_CRASH},
};

static void each_comes_when_it_is_due(void)
{
    struct trigger_schedule schedule;

    CHECK_EQUAL(trigger_schedule_init(&schedule, triggers, 4, 1000), 0);
    CHECK(trigger_schedule_next(&schedule, 1000) == NULL);
    CHECK(trigger_schedule_next(&schedule, 1019) == NULL);
    CHECK(trigger_schedule_next(&schedule, 1020) == &triggers[2]);
    CHECK(trigger_schedule_next(&schedule, 1020) == NULL);
    CHECK(trigger_schedule_next(&schedule, 1045) == &triggers[1]);
    CHECK(trigger_schedule_next(&schedule, 1045) == &triggers[2]);
    CHECK(trigger_schedule_next(&schedule, 1045) == NULL);
    /* Late, but the next time is not. */
    CHECK(trigger_schedule_next(&schedule, 1159) == &triggers[2]);
    CHECK(trigger_schedule_next(&schedule, 1159) == NULL);
    CHECK(trigger_schedule_next(&schedule, 1160) == &triggers[2]);
    trigger_schedule_deinit(&schedule);
}

static void none_is_fine(void)
{
    struct trigger_schedule schedule;

    CHECK_EQUAL(trigger_schedule_init(&schedule, NULL, 0, 1000), 0);
    CHECK(trigger_schedule_next(&schedule, UINT64_MAX) == NULL);
    trigger_schedule_deinit(&schedule);
}

static const struct check_case cases[] = {
    CHECK_CASE(each_comes_when_it_is_due),
    CHECK_CASE(none_is_fine),
};

CHECK_MAIN(cases)

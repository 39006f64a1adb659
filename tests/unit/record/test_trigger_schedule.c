/* SPDX-License-Identifier: MIT */
#include "record/trigger_schedule.h"

#include "support/check.h"

static const struct trigger_spec triggers[] = {
    {.kind = TRIGGER_SPEC_MANUAL},
    {.kind = TRIGGER_SPEC_TIME, .text = "time=+30", .nanoseconds = 30},
    {.kind = TRIGGER_SPEC_EVERY, .text = "every=20", .nanoseconds = 20},
    {.kind = TRIGGER_SPEC_CRASH},
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

/* SPDX-License-Identifier: MIT */
#include "record/drain_pace.h"

#include "support/check.h"

static void records_keep_it_at_a_millisecond(void)
{
    struct drain_pace pace = {.silent_ms = 0};

    for (int i = 0; i < 100; i++)
        CHECK_EQUAL(drain_pace_next(&pace, true), 1);
}

/* What comes after a short silence is taken soon; after a long one there is little to do. */
static void silence_slows_it_down(void)
{
    struct drain_pace pace = {.silent_ms = 0};
    unsigned wait_ms = drain_pace_next(&pace, true), waited_ms = wait_ms;

    while (waited_ms < 200) {
        wait_ms = drain_pace_next(&pace, false);
        CHECK(wait_ms <= 8);
        waited_ms += wait_ms;
    }
    while (waited_ms < 2000) {
        unsigned longer_ms = drain_pace_next(&pace, false);

        CHECK(longer_ms >= wait_ms && longer_ms <= 100);
        wait_ms = longer_ms;
        waited_ms += wait_ms;
    }
    CHECK_EQUAL(wait_ms, 100);
    for (; waited_ms < 6000; waited_ms += wait_ms)
        wait_ms = drain_pace_next(&pace, false);
    for (int i = 0; i < 1000; i++)
        CHECK_EQUAL(drain_pace_next(&pace, false), 250);
    CHECK_EQUAL(drain_pace_next(&pace, true), 1);
}

static const struct check_case cases[] = {
    CHECK_CASE(records_keep_it_at_a_millisecond),
    CHECK_CASE(silence_slows_it_down),
};

CHECK_MAIN(cases)

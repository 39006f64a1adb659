/* SPDX-License-Identifier: MIT */
#include "record/drain_pace.h"

#include "support/check.h"

static void records_keep_it_at_a_millisecond(void)
{
    struct drain_pace pace = {.wait_ms = 0};

    for (int i = 0; i < 5; i++)
        CHECK_EQUAL(drain_pace_next(&pace, true), 1);
}

static void silence_slows_it_down(void)
{
    struct drain_pace pace = {.wait_ms = 0};
    unsigned waited = 0;

    CHECK_EQUAL(drain_pace_next(&pace, true), 1);
    for (int i = 0; i < 10; i++) {
        unsigned wait = drain_pace_next(&pace, false);

        CHECK(wait >= waited && wait <= 8);
        waited = wait;
    }
    CHECK_EQUAL(waited, 8);
    CHECK_EQUAL(drain_pace_next(&pace, true), 1);
}

static const struct check_case cases[] = {
    CHECK_CASE(records_keep_it_at_a_millisecond),
    CHECK_CASE(silence_slows_it_down),
};

CHECK_MAIN(cases)

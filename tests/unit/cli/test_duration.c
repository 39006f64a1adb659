/* SPDX-License-Identifier: MIT */
#include "cli/duration.h"

#include "support/check.h"
#include "trace/manifest.h"

static void durations_have_the_unit_that_suits_them(void)
{
    char text[DURATION_BYTES];

    CHECK_TEXT(duration_write(0, text), "0 ns");
    CHECK_TEXT(duration_write(999, text), "999 ns");
    CHECK_TEXT(duration_write(1500, text), "1.50 us");
    CHECK_TEXT(duration_write(2500000, text), "2.50 ms");
    CHECK_TEXT(duration_write(3e9, text), "3.000 s");
}

static void the_clocks_tell_how_long_a_tick_is(void)
{
    struct clock_pair clocks[] = {{1000, 500}, {3000, 1500}};
    struct manifest manifest = {.clocks = clocks, .clock_count = 2};

    CHECK(duration_of_tick(&manifest) == 0.5);
    manifest.clock_count = 1;
    CHECK(duration_of_tick(&manifest) == 1);
    manifest.clock_count = 0;
    CHECK(duration_of_tick(&manifest) == 1);
    clocks[1] = clocks[0];
    manifest.clock_count = 2;
    CHECK(duration_of_tick(&manifest) == 1);
}

static const struct check_case cases[] = {
    CHECK_CASE(durations_have_the_unit_that_suits_them),
    CHECK_CASE(the_clocks_tell_how_long_a_tick_is),
};

CHECK_MAIN(cases)

/* SPDX-License-Identifier: MIT */
#include "export/flamegraph_colour.h"

#include "support/check.h"

static unsigned red(uint32_t colour)
{
    return colour >> 16;
}

static unsigned green(uint32_t colour)
{
    return colour >> 8 & 0xff;
}

static unsigned blue(uint32_t colour)
{
    return colour & 0xff;
}

/* These are in pictures that people keep. */
static void a_name_always_has_the_same_colour(void)
{
    CHECK_EQUAL(flamegraph_colour("main", "program", true), flamegraph_colour("main", "program", true));
    CHECK(flamegraph_colour("main", "program", true) != flamegraph_colour("parse", "program", true));
    CHECK(flamegraph_colour("main", "program", true) != flamegraph_colour("main", "libz.so.1", false));
}

static void the_program_is_warm_and_what_is_in_no_file_is_grey(void)
{
    char name[16];

    CHECK_EQUAL(flamegraph_colour("all", "", false), 0xc9ccd4);
    for (int i = 0; i < 1000; i++) {
        uint32_t colour;

        snprintf(name, sizeof(name), "f%d", i);
        colour = flamegraph_colour(name, "program", true);
        CHECK(red(colour) > green(colour) && green(colour) > blue(colour));
    }
}

/* As the luminance of sRGB is computed, roughly: black text can be read on it. */
static void all_are_light(void)
{
    char name[16];

    for (int i = 0; i < 5000; i++) {
        uint32_t colour;

        snprintf(name, sizeof(name), "f%d", i);
        colour = flamegraph_colour(name, name + 1 + i % 2, i % 3 == 0);
        CHECK(colour <= 0xffffff);
        CHECK(2126 * red(colour) + 7152 * green(colour) + 722 * blue(colour) > 10000 * 110);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(a_name_always_has_the_same_colour),
    CHECK_CASE(the_program_is_warm_and_what_is_in_no_file_is_grey),
    CHECK_CASE(all_are_light),
};

CHECK_MAIN(cases)

/* SPDX-License-Identifier: MIT */
#include "cli/options/unknown_option.h"

#include "cli/options/nearest_name.h"
#include "support/check.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

static const struct option options[] = {
    {"hook", required_argument, NULL, 1}, {"follow", required_argument, NULL, 2}, {NULL, 0, NULL, 0}};

static void the_nearest_option_is_named(void)
{
    struct gait_error err;

    CHECK_EQUAL(unknown_option_of(options, "spawn", "--hok", &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot use '--hok': 'gait spawn' has no such option; try '--hook', or 'gait help spawn'");
}

static void a_value_behind_it_does_not_matter(void)
{
    struct gait_error err;

    CHECK_EQUAL(unknown_option_of(options, "spawn", "--folow=call,ret", &err), -EINVAL);
    CHECK(strstr(err.text, "try '--follow'") != NULL);
}

static void where_nothing_is_near_the_help_is_named(void)
{
    struct gait_error err;

    CHECK_EQUAL(unknown_option_of(options, "dump events", "-z", &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot use '-z': 'gait dump events' has no such option; try 'gait help dump events'");
}

static void options_of_other_tables_can_be_offered(void)
{
    struct nearest_names nearest;
    struct gait_error err;

    unknown_option_begin(&nearest, "--jsn=1");
    nearest_names_offer(&nearest, "json", 4);
    CHECK_EQUAL(unknown_option_refuse(&nearest, "doctor", "--jsn=1", &err), -EINVAL);
    CHECK(strstr(err.text, "try '--json'") != NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_nearest_option_is_named),
    CHECK_CASE(a_value_behind_it_does_not_matter),
    CHECK_CASE(where_nothing_is_near_the_help_is_named),
    CHECK_CASE(options_of_other_tables_can_be_offered),
};

CHECK_MAIN(cases)

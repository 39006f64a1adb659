/* SPDX-License-Identifier: MIT */
#include "gait/version.h"

#include "support/check.h"

static void the_text_says_what_the_header_says(void)
{
    char expected[32];

    snprintf(expected, sizeof(expected), "%d.%d.%d", GAIT_VERSION_MAJOR, GAIT_VERSION_MINOR, GAIT_VERSION_PATCH);
    CHECK_TEXT(gait_version(), expected);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_text_says_what_the_header_says),
};

CHECK_MAIN(cases)

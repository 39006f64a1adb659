/* SPDX-License-Identifier: MIT */
#include "record/trigger.h"

#include "support/check.h"

static void every_kind_has_a_name_of_its_own(void)
{
    for (unsigned i = 0; i < TRIGGER_KINDS; i++)
        for (unsigned j = 0; j < i; j++)
            CHECK(strcmp(trigger_kind_name(i), trigger_kind_name(j)) != 0);
    CHECK_TEXT(trigger_kind_name(TRIGGER_SLOW), "slow");
    CHECK_TEXT(trigger_kind_name(TRIGGER_KINDS), "unknown");
}

static const struct check_case cases[] = {
    CHECK_CASE(every_kind_has_a_name_of_its_own),
};

CHECK_MAIN(cases)

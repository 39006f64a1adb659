/* SPDX-License-Identifier: MIT */
#include "trace/event_names.h"

#include "gait/stalker.h"
#include "support/check.h"

static void names_and_kinds_belong_together(void)
{
    CHECK_EQUAL(event_kind_by_name("call"), GAIT_EVENT_CALL);
    CHECK_EQUAL(event_kind_by_name("ret"), GAIT_EVENT_RET);
    CHECK_EQUAL(event_kind_by_name("exec"), GAIT_EVENT_EXEC);
    CHECK_EQUAL(event_kind_by_name("block"), GAIT_EVENT_BLOCK);
    CHECK_EQUAL(event_kind_by_name("compile"), GAIT_EVENT_COMPILE);
    CHECK_EQUAL(event_kind_by_name("enter"), GAIT_EVENT_ENTER);
    CHECK_EQUAL(event_kind_by_name("leave"), GAIT_EVENT_LEAVE);
    CHECK_EQUAL(event_kind_by_name("jump"), 0);
    for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
        CHECK_EQUAL(event_kind_by_name(event_name(bit)), 1u << bit);
}

static const struct check_case cases[] = {
    CHECK_CASE(names_and_kinds_belong_together),
};

CHECK_MAIN(cases)

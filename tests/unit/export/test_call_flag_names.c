/* SPDX-License-Identifier: MIT */
#include "export/call_flag_names.h"

#include "support/check.h"
#include "view/call_tracker.h"

static void each_flag_has_its_name(void)
{
    CHECK_TEXT(call_flag_names(0), "");
    CHECK_TEXT(call_flag_names(CALL_GUESSED), "guessed");
    CHECK_TEXT(call_flag_names(CALL_CUT), "cut");
    CHECK_TEXT(call_flag_names(CALL_UNWOUND), "unwound");
    CHECK_TEXT(call_flag_names(CALL_NO_RETURN), "no_return");
    CHECK_TEXT(call_flag_names(CALL_ENTRY_ONLY), "entry_only");
    CHECK_TEXT(call_flag_names(CALL_SUSPENDED), "suspended");
    CHECK_TEXT(call_flag_names(CALL_RESUMED), "resumed");
    CHECK_TEXT(call_flag_names(CALL_RESUMED | CALL_SUSPENDED), "resumed suspended");
    CHECK_TEXT(call_flag_names(CALL_RESUMED | CALL_CUT), "cut resumed");
}

/* The names of a set are those of its flags. */
static void sets_have_all_names(void)
{
    for (uint32_t flags = 0; flags < 16; flags++) {
        char expected[128] = "";

        for (uint32_t flag = 1; flag < 16; flag *= 2)
            if (flags & flag)
                strcat(strcat(expected, expected[0] == '\0' ? "" : " "), call_flag_names(flag));
        CHECK_TEXT(call_flag_names(flags), expected);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(each_flag_has_its_name),
    CHECK_CASE(sets_have_all_names),
};

CHECK_MAIN(cases)

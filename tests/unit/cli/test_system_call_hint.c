/* SPDX-License-Identifier: MIT */
#include "cli/hints.h"

#include "support/check.h"

static void what_may_have_been_meant_is_told(void)
{
    static const struct {
        const char *text, *expected;
    } tries[] = {
        {"opneat", "cannot use '-e trace=opneat': there is no such system call, and no such class of them; did you "
                   "mean openat"},
        {"%flie", "did you mean %file"},
        {"/[/", "this is not a regular expression; see gait help syscalls"},
        {"\033[1m", "'-e trace=?[1m'"},
    };

    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
        struct system_call_set set;
        struct system_call_set_fault fault;
        struct gait_error err;

        CHECK_EQUAL(system_call_set_parse(tries[i].text, &set, &fault) < 0, 1);
        system_call_hint("-e trace=", &fault, &err);
        CHECK_EQUAL(strstr(err.text, tries[i].expected) != NULL, 1);
    }
}

static const struct check_case cases[] = {CHECK_CASE(what_may_have_been_meant_is_told)};

CHECK_MAIN(cases)

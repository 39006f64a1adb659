/* SPDX-License-Identifier: MIT */
#include "view/function_choice.h"

#include "support/check.h"
#include "support/trace_folder.h"

static struct trace_folder folder;
static struct view_trace trace;
static struct view_functions functions;

static void begin(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(view_functions_init(&functions, &trace), 0);
}

static void end(void)
{
    view_functions_deinit(&functions);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static void functions_that_a_pattern_means_are_chosen(void)
{
    static const char *const patterns[] = {"*+0x1100", "nothing", "example!*0x1300"};
    struct function_choice choice;

    begin();
    function_choice_init(&choice, &functions, patterns, 3);
    for (unsigned round = 0; round < 2; round++) {
        CHECK(function_choice_has(&choice, view_functions_number(&functions, 0, 0x401100, 2000)));
        CHECK(!function_choice_has(&choice, view_functions_number(&functions, 0, 0x401200, 2000)));
        CHECK(function_choice_has(&choice, view_functions_number(&functions, 0, 0x401300, 2000)));
        CHECK_EQUAL(choice.matched_count, 2);
    }
    /* However many there are. */
    for (uint64_t i = 0; i < 2000; i++)
        CHECK(!function_choice_has(&choice, view_functions_number(&functions, 0, 0x900000 + i, 2000)));
    CHECK(function_choice_has(&choice, 2));
    function_choice_deinit(&choice);
    end();
}

static void without_patterns_none_is_chosen(void)
{
    struct function_choice choice;

    begin();
    function_choice_init(&choice, &functions, NULL, 0);
    CHECK(!function_choice_has(&choice, view_functions_number(&functions, 0, 0x401100, 2000)));
    function_choice_deinit(&choice);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_that_a_pattern_means_are_chosen),
    CHECK_CASE(without_patterns_none_is_chosen),
};

CHECK_MAIN(cases)

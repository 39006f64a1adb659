/* SPDX-License-Identifier: MIT */
#include "cli/hints.h"

#include "support/check.h"
#include "support/trace_folder.h"
#include "view/view_functions.h"

#include <errno.h>

static void the_nearest_names_are_told(void)
{
    struct trace_folder folder;
    struct view_trace trace;
    struct view_functions functions;
    struct gait_error err;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(view_functions_init(&functions, &trace), 0);
    CHECK_EQUAL(no_such_function(&functions, "example+0x1101", &err), -ENOENT);
    CHECK(strstr(err.text, "did you mean") == NULL);
    (void)view_functions_number(&functions, 0, 0x401100, 2000);
    CHECK_EQUAL(no_such_function(&functions, "example+0x1101", &err), -ENOENT);
    CHECK(strstr(err.text, "'example+0x1101'") != NULL && strstr(err.text, "did you mean example+0x1100?") != NULL);
    CHECK_EQUAL(no_such_function(&functions, "lib*!exampel+0x1100", &err), -ENOENT);
    CHECK(strstr(err.text, "did you mean example+0x1100?") != NULL);
    view_functions_deinit(&functions);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_nearest_names_are_told),
};

CHECK_MAIN(cases)

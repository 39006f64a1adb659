/* SPDX-License-Identifier: MIT */
#include "view/record_words.h"

#include "support/check.h"
#include "support/probe_trace.h"
#include "view/view_trace.h"

static void numbers_have_names_in_the_manifest(void)
{
    struct trace_folder folder;
    struct view_trace trace;
    char text[64];

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    probe_trace_put(&folder, 100, 0x401100);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_TEXT(probe_names_find(&trace, 0, 0)->name, "order");
    CHECK_EQUAL(probe_names_find(&trace, 0, 1)->address, 0x401110);
    CHECK(probe_names_find(&trace, 0, 2) == NULL);
    CHECK(probe_names_find(&trace, 0, UINT64_MAX) == NULL);
    probe_names_put(&trace, 0, 1, text, sizeof(text));
    CHECK_TEXT(text, "shop:idle");
    probe_names_put(&trace, 0, 2, text, sizeof(text));
    CHECK_TEXT(text, "probe 2");
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(numbers_have_names_in_the_manifest),
};

CHECK_MAIN(cases)

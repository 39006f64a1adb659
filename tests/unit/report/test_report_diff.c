/* SPDX-License-Identifier: MIT */
#include "report/report_diff.h"

#include "support/check.h"
#include "support/hooked_thread.h"

static struct trace_folder folders[2];
static struct view_trace traces[2];
static struct trace_report reports[2];
static struct report_diff diff;

/* The example before; after it there is another thread, in which the function of block 2 was slower. */
static void begin(enum call_group_kind by, enum report_order order)
{
    static const struct hooked_event slow[] = {{2, EVENT_RECORD_ENTER, 0, 5000}, {2, EVENT_RECORD_LEAVE, 0, 25000}};
    const struct trace_report_options options = {.by = by};

    for (size_t i = 0; i < 2; i++) {
        trace_folder_init(&folders[i]);
        hooked_thread_put_example(&folders[i]);
        if (i == 1)
            hooked_thread_put(&folders[i], 103, slow, 2);
        CHECK_EQUAL(view_trace_open(&traces[i], folders[i].path, NULL), 0);
        CHECK_EQUAL(trace_report_read(&reports[i], &traces[i], &options, NULL), 0);
    }
    CHECK_EQUAL(report_diff_init(&diff, &reports[0], &reports[1], order), 0);
}

static void end(void)
{
    report_diff_deinit(&diff);
    for (size_t i = 0; i < 2; i++) {
        trace_report_free(&reports[i]);
        view_trace_close(&traces[i]);
        trace_folder_deinit(&folders[i]);
    }
}

static void what_has_changed_most_comes_first(void)
{
    begin(CALL_GROUP_FUNCTION, REPORT_BY_TOTAL);
    CHECK_EQUAL(diff.count, 2);
    CHECK_TEXT(diff.changes[0].name, "example+0x1200");
    CHECK_TEXT(diff.changes[0].module, "example");
    CHECK_EQUAL(diff.changes[0].before.calls, 3);
    CHECK_EQUAL(diff.changes[0].after.calls, 4);
    CHECK(diff.changes[0].difference == 20000);
    CHECK_TEXT(diff.changes[1].name, "example+0x1100");
    CHECK(diff.changes[1].difference == 0);
    end();
}

static void threads_are_compared_by_name(void)
{
    begin(CALL_GROUP_THREAD, REPORT_BY_CALLS);
    CHECK_EQUAL(diff.count, 3);
    CHECK_TEXT(diff.changes[0].name, "");
    CHECK_EQUAL(diff.changes[0].before.calls, 6);
    CHECK_EQUAL(diff.changes[0].after.calls, 7);
    CHECK(diff.changes[0].difference == 1);
    end();
}

static void names_may_be_the_order(void)
{
    begin(CALL_GROUP_FUNCTION, REPORT_BY_NAME);
    CHECK_TEXT(diff.changes[0].name, "example+0x1100");
    CHECK_TEXT(diff.changes[1].name, "example+0x1200");
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(what_has_changed_most_comes_first),
    CHECK_CASE(threads_are_compared_by_name),
    CHECK_CASE(names_may_be_the_order),
};

CHECK_MAIN(cases)

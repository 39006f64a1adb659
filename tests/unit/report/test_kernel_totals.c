/* SPDX-License-Identifier: MIT */
#include "report/kernel_totals.h"

#include "support/check.h"
#include "support/kernel_trace.h"
#include "view/view_trace.h"

static struct trace_folder folder;
static struct view_trace trace;
static struct kernel_totals totals;

static void begin(bool has_kernel)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    if (has_kernel)
        kernel_trace_put_example(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
}

static void end(void)
{
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static void events_are_counted_by_source(void)
{
    begin(true);
    CHECK(kernel_totals_read(&totals, &trace));
    CHECK_EQUAL(totals.sources.source_count, 3);
    CHECK_EQUAL(totals.counts[1], 3);
    CHECK_EQUAL(totals.counts[2], 1);
    CHECK(kernel_totals_seconds(&totals, &trace) > 2.9e-7 && kernel_totals_seconds(&totals, &trace) < 3.1e-7);
    CHECK(!totals.is_cut);
    kernel_totals_free(&totals);
    end();
}

static void there_may_be_none(void)
{
    begin(false);
    CHECK(!kernel_totals_read(&totals, &trace));
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(events_are_counted_by_source),
    CHECK_CASE(there_may_be_none),
};

CHECK_MAIN(cases)

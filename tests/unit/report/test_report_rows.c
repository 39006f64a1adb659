/* SPDX-License-Identifier: MIT */
#include "report/report_rows.h"

#include "support/check.h"
#include "support/hooked_thread.h"

#include <string.h>

static struct trace_folder folder;
static struct view_trace trace;
static struct trace_report report;
static struct report_rows rows;

static void begin(enum call_group_kind by, enum report_order order)
{
    const struct trace_report_options options = {.by = by};

    trace_folder_init(&folder);
    hooked_thread_put_example(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(trace_report_read(&report, &trace, &options, NULL), 0);
    CHECK_EQUAL(report_rows_rank(&rows, &report, order), 0);
}

static void end(void)
{
    report_rows_free(&rows);
    trace_report_free(&report);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static void expect(size_t row, const char *name, double value)
{
    char text[REPORT_NAME_BYTES];

    CHECK_TEXT(report_row_name(&report, rows.rows[row].group, text), name);
    CHECK(rows.rows[row].value == value);
}

static void the_largest_come_first(void)
{
    static const struct {
        enum report_order order;
        const char *first;
        double value;
        double second;
    } orders[] = {
        {REPORT_BY_TOTAL, "example+0x1100", 8000, 1500}, {REPORT_BY_SELF, "example+0x1100", 6500, 1500},
        {REPORT_BY_CALLS, "example+0x1100", 13, 3},      {REPORT_BY_AVERAGE, "example+0x1100", 8000.0 / 13, 500},
        {REPORT_BY_P99, "example+0x1100", 2500, 500},    {REPORT_BY_LONGEST, "example+0x1100", 2500, 500},
        {REPORT_BY_NAME, "example+0x1100", 0, 0},
    };

    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        begin(CALL_GROUP_FUNCTION, orders[i].order);
        CHECK_EQUAL(rows.count, 2);
        expect(0, orders[i].first, orders[i].value);
        expect(1, "example+0x1200", orders[i].second);
        end();
    }
}

static void groups_have_names(void)
{
    begin(CALL_GROUP_MODULE, REPORT_BY_TOTAL);
    CHECK_EQUAL(rows.count, 1);
    expect(0, "/nowhere/example", 8000);
    end();
    begin(CALL_GROUP_THREAD, REPORT_BY_CALLS);
    CHECK_EQUAL(rows.count, 3);
    expect(0, "100/102", 6);
    expect(1, "100/100 example", 5);
    expect(2, "100/101 worker", 5);
    end();
    begin(CALL_GROUP_LINE, REPORT_BY_TOTAL);
    expect(0, "not known", 8000);
    end();
}

static void words_are_those_of_the_options(void)
{
    char words[128] = "";

    for (int i = CALL_GROUP_FUNCTION; i <= CALL_GROUP_LINE; i++)
        strcat(strcat(words, i == 0 ? "" : "|"), report_kind_name((enum call_group_kind)i));
    CHECK_TEXT(words, REPORT_KIND_NAMES);
    words[0] = '\0';
    for (int i = REPORT_BY_TOTAL; i <= REPORT_BY_NAME; i++)
        strcat(strcat(words, i == 0 ? "" : "|"), report_order_name((enum report_order)i));
    CHECK_TEXT(words, REPORT_ORDER_NAMES);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_largest_come_first),
    CHECK_CASE(groups_have_names),
    CHECK_CASE(words_are_those_of_the_options),
};

CHECK_MAIN(cases)

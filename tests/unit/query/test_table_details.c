/* SPDX-License-Identifier: MIT */
#include "query/query_table.h"

#include "ring/detail_record.h"
#include "support/check.h"
#include "support/query_lab.h"

static void a_call_is_a_row_with_both_ends(void)
{
    query_lab_begin();
    query_text_put_details(&query_lab_folder);
    CHECK_TEXT(query_lab_ask(
                   "select function, thread, depth, start_ns, duration_ns, value, is_unwound, register_0, register_1 "
                   "from details"),
               "shop+0x0|main|0|1000|500|42|0|7|8\nshop+0x0|main|1|1700|-|-|-|9|8\nshop+0x0|main|0|1600|-|-|-|9|8\n");
    CHECK_TEXT(
        query_lab_ask("select count(*) from details where function = 'shop+0x0' and tid = 200; select count(*) from "
                      "details where module = 'other'; select count(*) from details where tid = 201"),
        "3\n0\n0\n");
    query_lab_end();
}

static void without_any_there_are_no_rows(void)
{
    query_lab_begin();
    CHECK_TEXT(query_lab_ask("select * from details"), "");
    query_lab_end();
}

static void an_end_without_a_beginning_is_a_row(void)
{
    struct detail_leave leave = {
        .record = {.size_bytes = sizeof(leave), .kind = DETAIL_LEFT, .time = 2500, .function = 0x401000},
        .entered_time = 2400};
    struct trace_bytes bytes = {.size_bytes = 0};

    query_lab_begin();
    trace_bytes_put(&bytes, &leave, sizeof(leave));
    trace_folder_put_stream(
        &query_lab_folder,
        &(struct trace_stream_plan){.name = "200/200.1.detail.gait",
                                    .header = {.kind = TRACE_STREAM_DETAIL, .pid = 200, .tid = 200, .generation = 1},
                                    .bytes = &bytes});
    CHECK_TEXT(query_lab_ask("select function, start_ns, duration_ns, value, is_unwound, register_0 from details"),
               "shop+0x0|1400|100|-|1|-\n");
    query_lab_end();
}

static const struct check_case cases[] = {
    CHECK_CASE(a_call_is_a_row_with_both_ends),
    CHECK_CASE(without_any_there_are_no_rows),
    CHECK_CASE(an_end_without_a_beginning_is_a_row),
};

CHECK_MAIN(cases)

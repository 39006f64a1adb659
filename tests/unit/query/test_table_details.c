/* SPDX-License-Identifier: MIT */
#include "query/query_table.h"

#include "ring/detail_record.h"
#include "support/check.h"
#include "support/query_text.h"

static struct trace_folder folder;

static const char *ask(const char *sql)
{
    return query_text(folder.path, sql);
}

static void begin(void)
{
    trace_folder_init(&folder);
    query_text_put_hooked(&folder);
}

static void end(void)
{
    trace_folder_deinit(&folder);
}

static void a_call_is_a_row_with_both_ends(void)
{
    begin();
    query_text_put_details(&folder);
    CHECK_TEXT(ask("select function, thread, depth, start_ns, duration_ns, value, is_unwound, register_0, register_1 "
                   "from details"),
               "shop+0x0|main|0|1000|500|42|0|7|8\nshop+0x0|main|1|1700|-|-|-|9|8\nshop+0x0|main|0|1600|-|-|-|9|8\n");
    CHECK_TEXT(ask("select count(*) from details where function = 'shop+0x0' and tid = 200; select count(*) from "
                   "details where module = 'other'; select count(*) from details where tid = 201"),
               "3\n0\n0\n");
    end();
}

static void without_any_there_are_no_rows(void)
{
    begin();
    CHECK_TEXT(ask("select * from details"), "");
    end();
}

static void an_end_without_a_beginning_is_a_row(void)
{
    struct detail_leave leave = {
        .record = {.size_bytes = sizeof(leave), .kind = DETAIL_LEFT, .time = 2500, .function = 0x401000},
        .entered_time = 2400};
    struct trace_bytes bytes = {.size_bytes = 0};

    begin();
    trace_bytes_put(&bytes, &leave, sizeof(leave));
    trace_folder_put_stream(
        &folder,
        &(struct trace_stream_plan){.name = "200/200.1.detail.gait",
                                    .header = {.kind = TRACE_STREAM_DETAIL, .pid = 200, .tid = 200, .generation = 1},
                                    .bytes = &bytes});
    CHECK_TEXT(ask("select function, start_ns, duration_ns, value, is_unwound, register_0 from details"),
               "shop+0x0|1400|100|-|1|-\n");
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(a_call_is_a_row_with_both_ends),
    CHECK_CASE(without_any_there_are_no_rows),
    CHECK_CASE(an_end_without_a_beginning_is_a_row),
};

CHECK_MAIN(cases)

/* SPDX-License-Identifier: MIT */
#include "query/detail_scan.h"

#include "support/check.h"
#include "support/query_lab.h"

static struct query_lab lab;

static enum detail_step step(struct detail_scan *scan)
{
    return detail_scan_step(scan);
}

static void records_come_one_by_one(void)
{
    struct detail_scan scan;

    query_lab_init(&lab);
    query_text_put_details(&lab.folder);
    view_trace_close(&lab.trace);
    CHECK_EQUAL(view_trace_open(&lab.trace, lab.folder.path, NULL), 0);
    scan = (struct detail_scan){.source = &lab.source};
    CHECK_EQUAL(step(&scan), DETAIL_STEP_RECORD);
    CHECK_EQUAL(scan.thread.tid, 200);
    CHECK_TEXT(scan.thread.name, "main");
    CHECK_EQUAL(scan.time, 2000);
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQUAL(step(&scan), DETAIL_STEP_RECORD);
    CHECK_EQUAL(step(&scan), DETAIL_STEP_END);
    CHECK_EQUAL(step(&scan), DETAIL_STEP_OVER);
    CHECK_EQUAL(lab.source.problem, 0);
    detail_scan_deinit(&scan);
    query_lab_deinit(&lab);
}

/* The rest of a chunk behind what is no record is lost; the next chunk is read. */
static void what_is_no_record_is_a_gap(void)
{
    struct detail_leave leave = {.record = {.size_bytes = sizeof(leave), .kind = DETAIL_LEAVE, .time = 1}};
    struct trace_bytes bytes = {.size_bytes = 0};
    struct detail_scan scan;

    query_lab_init(&lab);
    trace_bytes_put(&bytes, &leave, sizeof(leave));
    leave.record.kind = 99;
    trace_bytes_put(&bytes, &leave, sizeof(leave));
    leave.record.kind = DETAIL_LEAVE;
    trace_bytes_put(&bytes, &leave, sizeof(leave));
    trace_bytes_put(&bytes, &leave, sizeof(leave));
    trace_folder_put_stream(
        &lab.folder,
        &(struct trace_stream_plan){.name = "200/201.1.detail.gait",
                                    .header = {.kind = TRACE_STREAM_DETAIL, .pid = 200, .tid = 201, .generation = 1},
                                    .bytes = &bytes,
                                    .piece_bytes = 2 * sizeof(leave)});
    view_trace_close(&lab.trace);
    CHECK_EQUAL(view_trace_open(&lab.trace, lab.folder.path, NULL), 0);
    scan = (struct detail_scan){.source = &lab.source};
    CHECK_EQUAL(step(&scan), DETAIL_STEP_RECORD);
    CHECK_EQUAL(step(&scan), DETAIL_STEP_GAP);
    CHECK_EQUAL(scan.lost_bytes, sizeof(leave));
    CHECK_EQUAL(step(&scan), DETAIL_STEP_RECORD);
    CHECK_EQUAL(step(&scan), DETAIL_STEP_RECORD);
    CHECK_EQUAL(step(&scan), DETAIL_STEP_END);
    CHECK_EQUAL(step(&scan), DETAIL_STEP_OVER);
    query_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(records_come_one_by_one),
    CHECK_CASE(what_is_no_record_is_a_gap),
};

CHECK_MAIN(cases)

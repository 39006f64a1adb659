/* SPDX-License-Identifier: MIT */
#include "view/detail_reader.h"

#include "support/check.h"
#include "support/trace_folder.h"

static struct trace_folder folder;
static struct view_trace trace;

static void put_call(struct trace_bytes *bytes, uint64_t function)
{
    struct detail_enter enter = {
        .record = {.size_bytes = sizeof(enter) + 8, .kind = DETAIL_ENTER, .function = function},
        .caller = function + 1,
        .stack_bytes = 8,
    };
    struct detail_leave leave = {.record = {.size_bytes = sizeof(leave), .kind = DETAIL_LEAVE, .function = function},
                                 .value = 7};

    trace_bytes_put(bytes, &enter, sizeof(enter));
    trace_bytes_put_long(bytes, 0);
    trace_bytes_put(bytes, &leave, sizeof(leave));
}

static void begin(const struct trace_stream_plan *plan)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    if (plan != NULL)
        trace_folder_put_stream(&folder, plan);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
}

static void end(void)
{
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static struct trace_stream_plan plan_of(const struct trace_bytes *bytes, uint32_t kind)
{
    return (struct trace_stream_plan){.name = "100/101.1.detail.gait",
                                      .header = {.kind = kind, .pid = 100, .tid = 101, .generation = 1},
                                      .bytes = bytes};
}

static void records_come_one_after_the_other(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    struct trace_stream_plan plan = plan_of(&bytes, TRACE_STREAM_DETAIL);
    struct detail_reader *reader;
    const struct detail_item *item;

    for (uint64_t function = 1; function <= 3; function++)
        put_call(&bytes, function);
    plan.piece_bytes = bytes.size_bytes / 3;
    plan.lost = 8;
    begin(&plan);
    CHECK_EQUAL(detail_reader_create(&reader, &trace, 1), 0);
    for (uint64_t function = 1; function <= 3; function++) {
        item = detail_reader_peek(reader);
        CHECK(item != NULL && item == detail_reader_peek(reader));
        CHECK_EQUAL(item->record.kind, DETAIL_ENTER);
        CHECK_EQUAL(detail_item_enter(item).caller, function + 1);
        /* A chunk each, with something lost before all but the first. */
        CHECK_EQUAL(item->is_behind_gap, function != 1);
        detail_reader_pass(reader);
        item = detail_reader_peek(reader);
        CHECK(item->record.kind == DETAIL_LEAVE && !item->is_behind_gap);
        CHECK_EQUAL(detail_item_leave(item).value, 7);
        detail_reader_pass(reader);
    }
    CHECK(detail_reader_peek(reader) == NULL);
    CHECK(detail_reader_peek(reader) == NULL);
    detail_reader_destroy(reader);
    end();
}

static void a_thread_without_details_has_no_reader(void)
{
    struct detail_reader *reader;

    begin(NULL);
    CHECK_EQUAL(detail_reader_create(&reader, &trace, 1), 0);
    CHECK(reader == NULL);
    detail_reader_destroy(reader);
    end();
}

static void what_is_no_record_is_passed_over(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    struct trace_stream_plan plan = plan_of(&bytes, TRACE_STREAM_DETAIL);
    struct detail_reader *reader;
    const struct detail_item *item;

    trace_bytes_put_long(&bytes, 3);
    while (bytes.size_bytes < 152)
        trace_bytes_put_long(&bytes, 0);
    put_call(&bytes, 5);
    plan.piece_bytes = 152;
    begin(&plan);
    CHECK_EQUAL(detail_reader_create(&reader, &trace, 1), 0);
    item = detail_reader_peek(reader);
    CHECK(item != NULL && item->record.function == 5 && item->is_behind_gap);
    detail_reader_destroy(reader);
    end();
}

static void another_stream_has_no_records(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    struct trace_stream_plan plan = plan_of(&bytes, TRACE_STREAM_INDEX);
    struct detail_reader *reader;

    put_call(&bytes, 5);
    begin(&plan);
    CHECK_EQUAL(detail_reader_create(&reader, &trace, 1), 0);
    CHECK(detail_reader_peek(reader) == NULL);
    detail_reader_destroy(reader);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(records_come_one_after_the_other),
    CHECK_CASE(a_thread_without_details_has_no_reader),
    CHECK_CASE(what_is_no_record_is_passed_over),
    CHECK_CASE(another_stream_has_no_records),
};

CHECK_MAIN(cases)

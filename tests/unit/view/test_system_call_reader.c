/* SPDX-License-Identifier: MIT */
#include "view/system_call_reader.h"

#include "support/check.h"
#include "support/told_system_calls.h"

static struct trace_folder folder;
static struct view_trace trace;

static void calls_come_as_they_ended_and_what_never_did_last(void)
{
    static const struct {
        uint64_t number;
        uint64_t begin;
        uint64_t end;
        int64_t result;
        bool has_returned;
    } expected[] = {
        {257, 1400, 1500, -2, true}, {1, 1600, 1700, 2, true},   {59, 1800, 1850, -13, true},
        {110, 1880, 1900, 42, true}, {59, 1950, 1950, 0, false},
    };
    const struct view_system_call *call;
    struct system_call_reader *reader;

    CHECK_EQUAL(system_call_reader_create(&reader, &trace, 1), 0);
    CHECK(reader != NULL);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        call = system_call_reader_peek(reader);
        CHECK(call != NULL && call == system_call_reader_peek(reader));
        CHECK_EQUAL(call->number, expected[i].number);
        CHECK_EQUAL(call->begin, expected[i].begin);
        CHECK_EQUAL(call->end, expected[i].end);
        CHECK_EQUAL(call->result, expected[i].result);
        CHECK_EQUAL((call->flags & DETAIL_SYSTEM_CALL_NEVER_RETURNED) == 0, expected[i].has_returned);
        system_call_reader_pass(reader);
    }
    CHECK(system_call_reader_peek(reader) == NULL);
    system_call_reader_destroy(reader);
}

static void without_details_there_are_none(void)
{
    struct system_call_reader *reader;

    CHECK_EQUAL(system_call_reader_create(&reader, &trace, 0), 0);
    CHECK(reader == NULL);
    system_call_reader_destroy(reader);
}

static void in_a_trace(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    told_system_calls_put(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    calls_come_as_they_ended_and_what_never_did_last();
    without_details_there_are_none();
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(in_a_trace),
};

CHECK_MAIN(cases)

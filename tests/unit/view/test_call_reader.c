/* SPDX-License-Identifier: MIT */
#include "view/call_reader.h"

#include "support/call_log.h"
#include "support/check.h"
#include "support/long_calls.h"

#include <string.h>

static struct trace_folder folder;
static struct view_trace trace;
static struct call_log call_log;

static void begin(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
}

static void end(void)
{
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static void calls_of_a_thread_are_told_in_order(void)
{
    struct call_receiver receiver = call_log_receiver(&call_log);

    begin();
    CHECK_EQUAL(call_reader_read(&trace, 0, &receiver, NULL), 0);
    CHECK_TEXT(call_log.text, "<401100@2000 401100@2050/0> <401100@2100 401100@2150/0> <401100@2200 401100@2250/0> "
                              "<401100@2300 401100@2350/0> <401100@2400 401100@2450/0> ");
    end();
}

static void losses_are_told_where_they_are(void)
{
    struct call_receiver receiver = call_log_receiver(&call_log);

    begin();
    CHECK_EQUAL(call_reader_read(&trace, 1, &receiver, NULL), 0);
    CHECK(strncmp(call_log.text, "<401100@2000 401100@2050/0> !72@2050 <401100@2100", 49) == 0);
    end();
}

static void who_has_enough_gets_its_own_result(void)
{
    struct call_receiver receiver = call_log_receiver(&call_log);

    begin();
    call_log.enough = 3;
    CHECK_EQUAL(call_reader_read(&trace, 0, &receiver, NULL), 1);
    CHECK_TEXT(call_log.text, "<401100@2000 401100@2050/0> <401100@2100 ");
    end();
}

static void a_stream_that_is_none_is_explained(void)
{
    struct call_receiver receiver = call_log_receiver(&call_log);
    struct gait_error err = {.code = 0};

    begin();
    trace_folder_write(&folder, "100/100.1.index.gait", "?", 1);
    CHECK(call_reader_read(&trace, 0, &receiver, &err) < 0);
    CHECK(strstr(err.text, "100.1.index.gait") != NULL);
    CHECK_TEXT(call_log.text, "");
    end();
}

/* What is there is told, and that it is not all. */
static void a_stream_that_is_cut_off_is_told_and_explained(void)
{
    struct call_receiver receiver = call_log_receiver(&call_log);
    struct gait_error err = {.code = 0};
    size_t size;
    uint8_t *bytes;

    begin();
    CHECK_EQUAL(call_reader_read(&trace, 0, &receiver, &err), 0);
    CHECK_EQUAL(err.code, 0);
    bytes = trace_folder_read(&folder, "100/100.1.index.gait", &size);
    trace_folder_write(&folder, "100/100.1.index.gait", bytes, size - 1);
    free(bytes);
    receiver = call_log_receiver(&call_log);
    CHECK_EQUAL(call_reader_read(&trace, 0, &receiver, &err), 0);
    CHECK_EQUAL(call_log.count, 10);
    CHECK(err.code != 0 && strstr(err.text, "100.1.index.gait") != NULL);
    CHECK_EQUAL(call_reader_read(&trace, 0, &receiver, NULL), 0);
    end();
}

/* What was skipped is as if it had been read, but for calls that have ended. */
static void calls_that_are_open_are_told_where_reading_begins(void)
{
    const char *begin_text = "<401000@1000 <401100@33784 <401200@50152 401200@50168/0> ";
    struct call_receiver receiver = call_log_receiver(&call_log);
    struct call_reader *reader;

    begin();
    long_calls_put(&folder, 100, 0);
    call_log.enough = 9;
    CHECK_EQUAL(call_reader_begin(&reader, &trace, 0, &receiver), 0);
    call_reader_skip(reader, LONG_CALLS_TIME(3) + 100);
    while (call_reader_step(reader))
        ;
    CHECK_EQUAL(call_reader_end(reader, NULL), 1);
    CHECK(strncmp(call_log.text, begin_text, strlen(begin_text)) == 0);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(a_stream_that_is_cut_off_is_told_and_explained),
    CHECK_CASE(calls_of_a_thread_are_told_in_order),
    CHECK_CASE(losses_are_told_where_they_are),
    CHECK_CASE(calls_that_are_open_are_told_where_reading_begins),
    CHECK_CASE(who_has_enough_gets_its_own_result),
    CHECK_CASE(a_stream_that_is_none_is_explained),
};

CHECK_MAIN(cases)

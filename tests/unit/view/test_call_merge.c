/* SPDX-License-Identifier: MIT */
#include "view/call_merge.h"

#include "support/call_log.h"
#include "support/check.h"
#include "support/trace_folder.h"
#include "trace/crc32c.h"

#include <string.h>

static struct trace_folder folder;
static struct view_trace trace;
static struct call_log call_log;
static const size_t both[] = {0, 1};

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

static void threads_take_turns_by_time(void)
{
    struct merged_receiver receiver = call_log_merged(&call_log);

    begin();
    CHECK_EQUAL(call_merge_read(&trace, both, 2, &receiver, NULL), 0);
    CHECK(strncmp(call_log.text,
                  "0:<401100@2000 1:<401100@2000 0:401100@2050/0> 1:401100@2050/0> 1:!72@2050 0:<401100@2100 ",
                  90) == 0);
    end();
}

/* What is told of one thread is what its own reader tells, whoever is read beside it. */
static void nothing_is_lost_or_told_twice(void)
{
    struct merged_receiver receiver = call_log_merged(&call_log);

    begin();
    CHECK_EQUAL(call_merge_read(&trace, both, 2, &receiver, NULL), 0);
    CHECK_EQUAL(call_log.count, 10 + 14);
    receiver = call_log_merged(&call_log);
    CHECK_EQUAL(call_merge_read(&trace, both + 1, 1, &receiver, NULL), 0);
    CHECK_EQUAL(call_log.count, 14);
    receiver = call_log_merged(&call_log);
    CHECK_EQUAL(call_merge_read(&trace, both, 0, &receiver, NULL), 0);
    CHECK_EQUAL(call_log.count, 0);
    end();
}

static void who_has_enough_gets_its_own_result(void)
{
    struct merged_receiver receiver = call_log_merged(&call_log);

    begin();
    call_log.enough = 3;
    CHECK_EQUAL(call_merge_read(&trace, both, 2, &receiver, NULL), 1);
    CHECK_TEXT(call_log.text, "0:<401100@2000 1:<401100@2000 0:401100@2050/0> ");
    end();
}

static void the_others_are_told_when_one_cannot_be_read(void)
{
    struct merged_receiver receiver = call_log_merged(&call_log);
    struct gait_error err = {.code = 0};

    begin();
    trace_folder_write(&folder, "100/100.1.index.gait", "?", 1);
    CHECK(call_merge_read(&trace, both, 2, &receiver, &err) < 0);
    CHECK(strstr(err.text, "100.1.index.gait") != NULL);
    CHECK_EQUAL(call_log.count, 14);
    end();
}

static void the_end_of_what_is_cut_off_is_explained(void)
{
    struct merged_receiver receiver = call_log_merged(&call_log);
    struct gait_error err = {.code = 0};
    size_t size;
    uint8_t *bytes;

    begin();
    bytes = trace_folder_read(&folder, "100/101.1.index.gait", &size);
    trace_folder_write(&folder, "100/101.1.index.gait", bytes, size - 1);
    free(bytes);
    CHECK_EQUAL(call_merge_read(&trace, both, 2, &receiver, &err), 0);
    CHECK_EQUAL(call_log.count, 10 + 14);
    CHECK(strstr(err.text, "101.1.index.gait") != NULL);
    /* That the other one cannot be read at all is worse. */
    trace_folder_write(&folder, "100/100.1.index.gait", "?", 1);
    CHECK(call_merge_read(&trace, both, 2, &receiver, &err) < 0);
    CHECK(strstr(err.text, "100.1.index.gait") != NULL);
    end();
}

/* A stream is begun when somebody looks, which may be long after its first event. */
static void a_thread_is_read_in_time(void)
{
    struct merged_receiver receiver = call_log_merged(&call_log);
    size_t size;
    uint8_t *bytes;
    struct trace_stream_header header;

    begin();
    bytes = trace_folder_read(&folder, "100/101.1.index.gait", &size);
    memcpy(&header, bytes, sizeof(header));
    header.began.counter = 9000000000;
    header.crc = crc32c(0, &header, offsetof(struct trace_stream_header, crc));
    memcpy(bytes, &header, sizeof(header));
    trace_folder_write(&folder, "100/101.1.index.gait", bytes, size);
    free(bytes);
    CHECK_EQUAL(call_merge_read(&trace, both, 2, &receiver, NULL), 0);
    CHECK(strncmp(call_log.text, "0:<401100@2000 1:<401100@2000 ", 30) == 0);
    CHECK_EQUAL(call_merge_earliest(&trace, 1), 0);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(the_end_of_what_is_cut_off_is_explained),
    CHECK_CASE(a_thread_is_read_in_time),
    CHECK_CASE(threads_take_turns_by_time),
    CHECK_CASE(nothing_is_lost_or_told_twice),
    CHECK_CASE(who_has_enough_gets_its_own_result),
    CHECK_CASE(the_others_are_told_when_one_cannot_be_read),
};

CHECK_MAIN(cases)

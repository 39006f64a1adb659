/* SPDX-License-Identifier: MIT */
#include "trace/trace_crash.h"

#include "support/check.h"
#include "support/trace_folder.h"

#include <errno.h>
#include <unistd.h>

static struct trace_folder folder;
static struct gait_error err;

static void put(const struct trace_bytes *bytes, uint32_t kind, size_t piece_bytes)
{
    unlinkat(folder.fd, "crash.gait", 0);
    trace_folder_put_stream(
        &folder, &(struct trace_stream_plan){
                     .name = "crash.gait", .header = {.kind = kind}, .bytes = bytes, .piece_bytes = piece_bytes});
}

static void add_signal(struct trace_bytes *bytes, int32_t number)
{
    struct crash_signal signal = {.record = {sizeof(signal) + 8, CRASH_SIGNAL}, .signal = number, .stack_bytes = 5};

    trace_bytes_put(bytes, &signal, sizeof(signal));
    trace_bytes_put(bytes, "stack\0\0", 8);
}

static void add_thread(struct trace_bytes *bytes, uint32_t tid)
{
    struct crash_thread thread = {.record = {sizeof(thread), CRASH_THREAD}, .tid = tid};

    trace_bytes_put(bytes, &thread, sizeof(thread));
}

static void records_are_found_by_kind(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    struct trace_crash crash;
    struct crash_signal signal;
    struct crash_thread thread;
    const uint8_t *stack;
    size_t place = 0;

    add_thread(&bytes, 5);
    add_signal(&bytes, 11);
    add_thread(&bytes, 6);
    put(&bytes, TRACE_STREAM_CRASH, 0);
    CHECK_EQUAL(trace_crash_read(&crash, folder.fd, "crash.gait", &err), 0);
    CHECK_EQUAL(crash.count, 3);
    CHECK_EQUAL(crash.end.state, STREAM_COMPLETE);
    CHECK(trace_crash_next_signal(&crash, &place, &signal, &stack));
    CHECK_EQUAL(signal.signal, 11);
    CHECK_EQUAL(memcmp(stack, "stack", signal.stack_bytes), 0);
    CHECK(!trace_crash_next_signal(&crash, &place, &signal, &stack));
    place = 0;
    CHECK(trace_crash_next_thread(&crash, &place, &thread, &stack));
    CHECK(trace_crash_next_thread(&crash, &place, &thread, &stack));
    CHECK_EQUAL(thread.tid, 6);
    CHECK(!trace_crash_next_thread(&crash, &place, &thread, &stack));
    trace_crash_deinit(&crash);
}

static void what_is_no_record_is_refused(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    struct trace_crash crash;

    add_signal(&bytes, 11);
    put(&bytes, TRACE_STREAM_MODULES, 0);
    CHECK_EQUAL(trace_crash_read(&crash, folder.fd, "crash.gait", &err), -EPROTO);
    CHECK(strstr(err.text, "not one of a crash") != NULL);
    put(&bytes, TRACE_STREAM_CRASH, 64);
    CHECK_EQUAL(trace_crash_read(&crash, folder.fd, "crash.gait", &err), -EPROTO);
    CHECK(strstr(err.text, "begins no record") != NULL);
    CHECK_EQUAL(trace_crash_read(&crash, folder.fd, "none.gait", &err), -ENOENT);
}

static void with_folder(void)
{
    trace_folder_init(&folder);
    records_are_found_by_kind();
    what_is_no_record_is_refused();
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(with_folder),
};

CHECK_MAIN(cases)

/* SPDX-License-Identifier: MIT */
#include "trace/kernel_events.h"

#include "support/check.h"
#include "support/kernel_trace.h"

#include <errno.h>
#include <unistd.h>

static struct trace_folder folder;
static struct gait_error err;

static void open_all(struct trace_files *files, struct kernel_events *events)
{
    CHECK_EQUAL(trace_files_open(files, folder.path, &err), 0);
    CHECK_EQUAL(kernel_events_open(events, files, &err), 0);
}

static void close_all(struct trace_files *files, struct kernel_events *events)
{
    kernel_events_close(events);
    trace_files_close(files);
}

static void events_of_all_cpus_come_by_time(void)
{
    static const struct {
        uint64_t time;
        uint32_t cpu, source;
    } expected[] = {{1100, 0, 1}, {1200, 1, 2}, {1300, 0, 1}, {1400, 1, 1}};
    struct trace_files files;
    struct kernel_events events;
    struct kernel_event event;

    open_all(&files, &events);
    for (size_t i = 0; i < 4; i++) {
        CHECK(kernel_events_next(&events, &event));
        CHECK_EQUAL(event.time, expected[i].time);
        CHECK_EQUAL(event.cpu, expected[i].cpu);
        CHECK_EQUAL(event.source, expected[i].source);
        CHECK_EQUAL(event.tid, 100);
        CHECK_EQUAL(event.raw_bytes, 16);
    }
    CHECK_EQUAL(event.kernel_frame_count, 1);
    CHECK_EQUAL(event.kernel_frames[0], 0x9999);
    CHECK_EQUAL(event.user_frame_count, 0);
    CHECK(!kernel_events_next(&events, &event));
    CHECK(!kernel_events_next(&events, &event));
    CHECK_EQUAL(events.problem.code, 0);
    CHECK_EQUAL(events.bad_bytes, 0);
    close_all(&files, &events);
}

static void what_was_before_can_be_skipped(void)
{
    struct trace_files files;
    struct kernel_events events;
    struct kernel_event event;

    open_all(&files, &events);
    kernel_events_skip(&events, UINT64_MAX);
    CHECK(!kernel_events_next(&events, &event));
    close_all(&files, &events);
}

static void definitions_come_with_the_trace(void)
{
    struct trace_files files;
    struct kernel_sources sources;

    CHECK_EQUAL(trace_files_open(&files, folder.path, &err), 0);
    CHECK_EQUAL(kernel_events_sources(&files, &sources, &err), 0);
    CHECK_EQUAL(sources.source_count, 3);
    kernel_sources_deinit(&sources);
    trace_files_close(&files);
}

static void records_are_checked(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    struct kernel_event event;
    struct kernel_record record;

    kernel_trace_put_event(&bytes, 1, 5, 6, 7);
    CHECK_EQUAL(kernel_record_read(bytes.bytes, bytes.size_bytes, &event), bytes.size_bytes);
    for (size_t size = 0; size < bytes.size_bytes; size++)
        CHECK_EQUAL(kernel_record_read(bytes.bytes, size, &event), 0);
    memcpy(&record, bytes.bytes, sizeof(record));
    record.raw_bytes = 64;
    memcpy(bytes.bytes, &record, sizeof(record));
    CHECK_EQUAL(kernel_record_read(bytes.bytes, bytes.size_bytes, &event), 0);
    record.raw_bytes = 16;
    record.source = 0;
    memcpy(bytes.bytes, &record, sizeof(record));
    CHECK_EQUAL(kernel_record_read(bytes.bytes, bytes.size_bytes, &event), 0);
}

static void what_is_cut_off_is_told(void)
{
    struct trace_files files;
    struct kernel_events events;
    struct kernel_event event;
    size_t size, count = 0;
    uint8_t *bytes = trace_folder_read(&folder, "kernel/1.events.gait", &size);

    trace_folder_write(&folder, "kernel/1.events.gait", bytes, size - 64);
    open_all(&files, &events);
    while (kernel_events_next(&events, &event))
        count++;
    CHECK_EQUAL(count, 4);
    CHECK(events.problem.code != 0);
    CHECK(strstr(events.problem.text, "kernel/1.events.gait") != NULL);
    close_all(&files, &events);
    free(bytes);
}

static void traces_without_any_are_told_apart(void)
{
    struct trace_folder other;
    struct trace_files files;
    struct kernel_events events;
    struct kernel_sources sources;

    trace_folder_init(&other);
    trace_folder_put_example(&other);
    CHECK_EQUAL(trace_files_open(&files, other.path, &err), 0);
    CHECK_EQUAL(kernel_events_open(&events, &files, &err), -ENOENT);
    CHECK_EQUAL(kernel_events_sources(&files, &sources, &err), -ENOENT);
    trace_files_close(&files);
    trace_folder_deinit(&other);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(events_of_all_cpus_come_by_time), CHECK_CASE(what_was_before_can_be_skipped),
        CHECK_CASE(definitions_come_with_the_trace), CHECK_CASE(records_are_checked),
        CHECK_CASE(what_is_cut_off_is_told),         CHECK_CASE(traces_without_any_are_told_apart),
    };
    int result;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    kernel_trace_put_example(&folder);
    result = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    trace_folder_deinit(&folder);
    return result;
}

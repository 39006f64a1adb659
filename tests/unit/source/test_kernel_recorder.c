/* SPDX-License-Identifier: MIT */
#include "source/kernel_recorder.h"

#include "support/check.h"
#include "support/trace_folder.h"

#include <errno.h>

static struct gait_error err;

/* Nothing has to be watched for this: events come from here. */
static void what_is_given_can_be_read(void)
{
    struct trace_folder folder;
    struct probe_list list = {.count = 0};
    struct kernel_recorder *recorder;
    struct perf_session session = {.probe_count = 0};
    struct perf_receiver receiver;
    struct trace_files files;
    struct kernel_sources sources;
    struct kernel_events events;
    struct kernel_event event;
    const uint64_t raw[2] = {0x1234, 0x5678}, frames[3] = {7, 8, 9};
    size_t count = 0;
    uint64_t lost[2] = {0, 0};

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(probe_list_add(&list, "software:page-faults", &err), 0);
    CHECK_EQUAL(
        kernel_recorder_create(&(struct kernel_recorder_options){.folder = folder.fd, .list = &list}, &recorder, &err),
        0);
    receiver = kernel_recorder_receiver(recorder);
    receiver.named(receiver.context, 100, 101, "worker", 5, true);
    for (uint32_t i = 0; i < 50000; i++) {
        event = (struct kernel_event){.time = 10 + i,
                                      .cpu = i % 3,
                                      .source = 1,
                                      .pid = 100,
                                      .tid = 101,
                                      .raw = (const uint8_t *)raw,
                                      .raw_bytes = sizeof(raw),
                                      .user_frames = frames,
                                      .user_frame_count = 3};
        receiver.event(receiver.context, &event);
    }
    receiver.lost(receiver.context, 1, 42, 99999);
    CHECK_EQUAL(kernel_recorder_flush(recorder), 0);
    CHECK_EQUAL(kernel_recorder_events(recorder), 50000);
    CHECK(kernel_recorder_bytes(recorder) > 50000 * 64);
    session.lost_by_records = lost;
    CHECK_EQUAL(kernel_recorder_end(recorder, &session), 0);

    CHECK_EQUAL(trace_files_open(&files, folder.path, &err), 0);
    CHECK_EQUAL(kernel_events_sources(&files, &sources, &err), 0);
    CHECK_EQUAL(kernel_sources_find(&sources, 1)->event_count, 50000);
    CHECK_TEXT(kernel_sources_thread(&sources, 101, 20), "worker");
    CHECK_EQUAL(kernel_events_open(&events, &files, &err), 0);
    for (; kernel_events_next(&events, &event); count++)
        if (event.time != 10 + count || event.cpu != count % 3 || event.raw_bytes != 16 || event.user_frames[2] != 9)
            break;
    CHECK_EQUAL(count, 50000);
    CHECK_EQUAL(events.lost_count, 42);
    CHECK_EQUAL(events.problem.code, 0);
    kernel_events_close(&events);
    kernel_sources_deinit(&sources);
    trace_files_close(&files);
    probe_list_deinit(&list);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_is_given_can_be_read),
};

CHECK_MAIN(cases)

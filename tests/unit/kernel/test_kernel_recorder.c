/* SPDX-License-Identifier: MIT */
#include "kernel/kernel_recorder.h"

#include "support/check.h"
#include "support/random.h"
#include "support/trace_folder.h"

#include <errno.h>

static struct gait_error err;

/* Nothing has to be watched for this: events come from here. */
static void what_is_given_can_be_read(void)
{
    struct trace_folder folder;
    struct chosen_probes list = {.count = 0};
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
    CHECK_EQUAL(chosen_probes_add(&list, "software:page-faults", &err), 0);
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
    CHECK(kernel_recorder_bytes(recorder) > 50000 * 3);
    CHECK(kernel_recorder_bytes(recorder) < 50000 * 4);
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
    chosen_probes_deinit(&list);
    trace_folder_deinit(&folder);
}

/* What cannot be packed is there all the same, also where it is compressed. */
static void noise_is_stored_as_it_is(void)
{
    static uint8_t raw[4000], expected[sizeof(raw)];
    struct trace_folder folder;
    struct chosen_probes list = {.count = 0};
    struct kernel_recorder *recorder;
    struct perf_session session = {.probe_count = 0};
    struct perf_receiver receiver;
    struct trace_files files;
    struct kernel_events events;
    struct kernel_event event;
    struct random random;
    uint64_t lost[2] = {0, 0}, count = 0;
    bool is_same = true;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(chosen_probes_add(&list, "software:page-faults", &err), 0);
    CHECK_EQUAL(
        kernel_recorder_create(&(struct kernel_recorder_options){.folder = folder.fd, .list = &list, .compress = true},
                               &recorder, &err),
        0);
    receiver = kernel_recorder_receiver(recorder);
    random_init(&random, 5);
    for (uint32_t i = 0; i < 1000; i++) {
        random_fill(&random, raw, sizeof(raw));
        event = (struct kernel_event){.time = i + 1, .source = 1, .raw = raw, .raw_bytes = sizeof(raw) - i};
        receiver.event(receiver.context, &event);
    }
    session.lost_by_records = lost;
    CHECK_EQUAL(kernel_recorder_end(recorder, &session), 0);
    CHECK_EQUAL(trace_files_open(&files, folder.path, &err), 0);
    CHECK_EQUAL(kernel_events_open(&events, &files, &err), 0);
    random_init(&random, 5);
    for (; kernel_events_next(&events, &event); count++) {
        random_fill(&random, expected, sizeof(expected));
        is_same = is_same && event.raw_bytes == sizeof(raw) - count &&
                  memcmp(event.raw, expected, event.raw_bytes) == 0 && event.time == count + 1;
    }
    CHECK_EQUAL(count, 1000);
    CHECK(is_same);
    CHECK_EQUAL(events.problem.code, 0);
    kernel_events_close(&events);
    trace_files_close(&files);
    chosen_probes_deinit(&list);
    trace_folder_deinit(&folder);
}

/* More frames and bytes than a record has room for are cut off. */
static void what_is_too_much_is_cut(void)
{
    static uint64_t many[9000];
    struct trace_folder folder;
    struct chosen_probes list = {.count = 0};
    struct kernel_recorder *recorder;
    struct perf_session session = {.probe_count = 0};
    struct perf_receiver receiver;
    struct trace_files files;
    struct kernel_events events;
    struct kernel_event event = {.time = 1,
                                 .source = 1,
                                 .raw = (const uint8_t *)many,
                                 .raw_bytes = 65536,
                                 .user_frames = many,
                                 .user_frame_count = 300};
    uint64_t lost[2] = {0, 0};

    for (size_t i = 0; i < 9000; i++)
        many[i] = i;
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(chosen_probes_add(&list, "software:page-faults", &err), 0);
    CHECK_EQUAL(
        kernel_recorder_create(&(struct kernel_recorder_options){.folder = folder.fd, .list = &list}, &recorder, &err),
        0);
    receiver = kernel_recorder_receiver(recorder);
    receiver.event(receiver.context, &event);
    session.lost_by_records = lost;
    CHECK_EQUAL(kernel_recorder_end(recorder, &session), 0);
    CHECK_EQUAL(trace_files_open(&files, folder.path, &err), 0);
    CHECK_EQUAL(kernel_events_open(&events, &files, &err), 0);
    CHECK(kernel_events_next(&events, &event));
    CHECK_EQUAL(event.raw_bytes, KERNEL_RAW_BYTES_MAX);
    CHECK_EQUAL(event.user_frame_count, 255);
    CHECK_EQUAL(event.user_frames[254], 254);
    CHECK(!kernel_events_next(&events, &event));
    kernel_events_close(&events);
    trace_files_close(&files);
    chosen_probes_deinit(&list);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_is_given_can_be_read),
    CHECK_CASE(noise_is_stored_as_it_is),
    CHECK_CASE(what_is_too_much_is_cut),
};

CHECK_MAIN(cases)

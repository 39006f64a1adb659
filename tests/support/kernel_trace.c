/* SPDX-License-Identifier: MIT */
#include "support/kernel_trace.h"

#include <stdio.h>
#include <string.h>

static void put_padding(struct trace_bytes *bytes)
{
    static const uint8_t zeroes[TRACE_ALIGNMENT];

    trace_bytes_put(bytes, zeroes, trace_padded(bytes->size_bytes) - bytes->size_bytes);
}

void kernel_trace_put_source(struct trace_bytes *bytes, uint32_t id, const char *spec, const char *name,
                             const struct kernel_field *fields, uint32_t field_count)
{
    struct kernel_source_definition source = {
        .definition = {.kind = KERNEL_DEFINES_SOURCE},
        .id = id,
        .field_count = field_count,
        .spec_bytes = (uint32_t)strlen(spec),
        .name_bytes = (uint32_t)strlen(name),
    };

    source.definition.size_bytes =
        (uint32_t)trace_padded(sizeof(source) + field_count * sizeof(*fields) + source.spec_bytes + source.name_bytes);
    trace_bytes_put(bytes, &source, sizeof(source));
    if (field_count != 0)
        trace_bytes_put(bytes, fields, field_count * sizeof(*fields));
    trace_bytes_put(bytes, spec, source.spec_bytes);
    trace_bytes_put(bytes, name, source.name_bytes);
    put_padding(bytes);
}

void kernel_trace_put_thread(struct trace_bytes *bytes, uint32_t tid, uint64_t time, const char *name)
{
    struct kernel_thread_definition thread = {
        .definition = {sizeof(thread), KERNEL_DEFINES_THREAD}, .time = time, .pid = tid, .tid = tid};

    memcpy(thread.name, name, strnlen(name, sizeof(thread.name)));
    trace_bytes_put(bytes, &thread, sizeof(thread));
}

void kernel_trace_put_function(struct trace_bytes *bytes, uint64_t start, uint64_t end, const char *name)
{
    const struct kernel_function_definition function = {
        .definition = {(uint32_t)trace_padded(sizeof(function) + strlen(name)), KERNEL_DEFINES_FUNCTION},
        .start = start,
        .end = end,
        .name_bytes = (uint32_t)strlen(name),
    };

    trace_bytes_put(bytes, &function, sizeof(function));
    trace_bytes_put(bytes, name, strlen(name));
    put_padding(bytes);
}

void kernel_trace_put_total(struct trace_bytes *bytes, uint32_t id, uint64_t events, uint64_t lost)
{
    const struct kernel_total_definition total = {
        .definition = {sizeof(total), KERNEL_DEFINES_TOTAL}, .id = id, .event_count = events, .lost_count = lost};

    trace_bytes_put(bytes, &total, sizeof(total));
}

void kernel_trace_put_record(struct trace_bytes *bytes, const struct kernel_event *event)
{
    static const uint8_t zeroes[TRACE_ALIGNMENT];
    size_t frames_bytes = sizeof(uint64_t) * (event->kernel_frame_count + event->user_frame_count);
    size_t raw_bytes = trace_padded(event->raw_bytes);
    const struct kernel_record record = {
        .size_bytes = (uint16_t)(sizeof(record) + raw_bytes + frames_bytes),
        .source = (uint16_t)event->source,
        .pid = event->pid,
        .tid = event->tid,
        .raw_bytes = (uint16_t)event->raw_bytes,
        .kernel_frames = (uint8_t)event->kernel_frame_count,
        .user_frames = (uint8_t)event->user_frame_count,
        .time = event->time,
    };

    trace_bytes_put(bytes, &record, sizeof(record));
    if (raw_bytes != 0)
        trace_bytes_put(bytes, event->raw, event->raw_bytes);
    trace_bytes_put(bytes, zeroes, raw_bytes - event->raw_bytes);
    for (size_t i = 0; i < event->kernel_frame_count; i++)
        trace_bytes_put_long(bytes, event->kernel_frames[i]);
    for (size_t i = 0; i < event->user_frame_count; i++)
        trace_bytes_put_long(bytes, event->user_frames[i]);
}

void kernel_trace_put_event(struct trace_bytes *bytes, uint16_t source, uint64_t time, uint64_t number, uint64_t frame)
{
    const struct {
        uint64_t number;
        char text[8];
    } fields = {number, "word"};

    kernel_trace_put_record(bytes, &(struct kernel_event){.source = source,
                                                          .time = time,
                                                          .pid = 100,
                                                          .tid = 100,
                                                          .raw = (const uint8_t *)&fields,
                                                          .raw_bytes = sizeof(fields),
                                                          .kernel_frames = &frame,
                                                          .kernel_frame_count = frame != 0});
}

static void put_stream(const struct trace_folder *folder, const char *name, uint32_t kind,
                       const struct trace_bytes *bytes)
{
    trace_folder_put_stream(folder,
                            &(struct trace_stream_plan){.name = name, .header = {.kind = kind}, .bytes = bytes});
}

void kernel_trace_put_example(const struct trace_folder *folder)
{
    const struct kernel_field fields[] = {
        {.offset = 0, .size_bytes = 8, .count = 1, .type = KERNEL_FIELD_SIGNED, .name = "number"},
        {.offset = 8, .size_bytes = 8, .count = 1, .type = KERNEL_FIELD_STRING, .name = "text"},
    };
    struct trace_bytes sources = {.size_bytes = 0}, first = {.size_bytes = 0}, second = {.size_bytes = 0};

    kernel_trace_put_source(&sources, 1, "tracepoint:clock:tick", "tick", fields, 2);
    kernel_trace_put_source(&sources, 2, "tracepoint:clock:tock", "tock", NULL, 0);
    kernel_trace_put_thread(&sources, 100, 0, "early");
    kernel_trace_put_thread(&sources, 100, 1250, "late");
    kernel_trace_put_function(&sources, 0x1000, 0x2000, "ticking");
    kernel_trace_put_total(&sources, 1, 3, 5);
    kernel_trace_put_event(&first, 1, 1100, (uint64_t)-7, 0x1234);
    kernel_trace_put_event(&first, 1, 1300, 8, 0);
    kernel_trace_put_event(&second, 2, 1200, 0, 0);
    kernel_trace_put_event(&second, 1, 1400, 9, 0x9999);
    trace_folder_make(folder, "kernel");
    put_stream(folder, "kernel/sources.gait", TRACE_STREAM_KERNEL_SOURCES, &sources);
    put_stream(folder, "kernel/0.events.gait", TRACE_STREAM_KERNEL_EVENTS, &first);
    put_stream(folder, "kernel/1.events.gait", TRACE_STREAM_KERNEL_EVENTS, &second);
}

/* ---- running and sampled ----------------------------------------------------------------------------------------- */

static void put_run(struct trace_bytes *bytes, uint64_t time, uint32_t is_running, uint32_t is_preempted)
{
    const uint32_t fields[2] = {is_running, is_preempted};

    kernel_trace_put_record(bytes, &(struct kernel_event){.source = 2,
                                                          .time = time,
                                                          .pid = 100,
                                                          .tid = 100,
                                                          .raw = (const uint8_t *)fields,
                                                          .raw_bytes = sizeof(fields)});
}

static void put_sample(struct trace_bytes *bytes, uint64_t time)
{
    static const uint64_t kernel_frames[] = {0x1010}, user_frames[] = {0x401104, 0x401205};

    kernel_trace_put_record(bytes, &(struct kernel_event){.source = 1,
                                                          .time = time,
                                                          .pid = 100,
                                                          .tid = 100,
                                                          .kernel_frames = kernel_frames,
                                                          .kernel_frame_count = 1,
                                                          .user_frames = user_frames,
                                                          .user_frame_count = 2});
}

static void put_waking(struct trace_bytes *bytes, uint64_t time)
{
    const struct {
        char comm[16];
        int32_t pid, prio, target_cpu;
    } fields = {"early", 100, 120, 1};

    kernel_trace_put_record(bytes, &(struct kernel_event){.source = 3,
                                                          .time = time,
                                                          .pid = 200,
                                                          .tid = 200,
                                                          .raw = (const uint8_t *)&fields,
                                                          .raw_bytes = sizeof(fields)});
}

void kernel_trace_put_run(const struct trace_folder *folder)
{
    const struct kernel_field run[] = {
        {.offset = 0, .size_bytes = 4, .count = 1, .type = KERNEL_FIELD_UNSIGNED, .name = "running"},
        {.offset = 4, .size_bytes = 4, .count = 1, .type = KERNEL_FIELD_UNSIGNED, .name = "preempted"},
    };
    const struct kernel_field waking[] = {
        {.offset = 0, .size_bytes = 1, .count = 16, .type = KERNEL_FIELD_STRING, .name = "comm"},
        {.offset = 16, .size_bytes = 4, .count = 1, .type = KERNEL_FIELD_SIGNED, .name = "pid"},
        {.offset = 20, .size_bytes = 4, .count = 1, .type = KERNEL_FIELD_SIGNED, .name = "prio"},
        {.offset = 24, .size_bytes = 4, .count = 1, .type = KERNEL_FIELD_SIGNED, .name = "target_cpu"},
    };
    struct trace_bytes sources = {.size_bytes = 0}, events = {.size_bytes = 0};

    kernel_trace_put_source(&sources, 1, "profile:hz:100", "profile", NULL, 0);
    kernel_trace_put_source(&sources, 2, "sched:run", "run", run, 2);
    kernel_trace_put_source(&sources, 3, "tracepoint:sched:sched_waking", "sched_waking", waking, 4);
    kernel_trace_put_thread(&sources, 100, 0, "early");
    kernel_trace_put_thread(&sources, 200, 0, "other");
    kernel_trace_put_function(&sources, 0x1000, 0x2000, "ticking");
    put_run(&events, 1100, 1, 0);
    put_sample(&events, 1150);
    put_sample(&events, 1160);
    put_run(&events, 1200, 0, 0);
    put_waking(&events, 1250);
    put_run(&events, 1300, 1, 0);
    put_run(&events, 1400, 0, 1);
    trace_folder_make(folder, "kernel");
    put_stream(folder, "kernel/sources.gait", TRACE_STREAM_KERNEL_SOURCES, &sources);
    put_stream(folder, "kernel/0.events.gait", TRACE_STREAM_KERNEL_EVENTS, &events);
}

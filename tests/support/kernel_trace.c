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

void kernel_trace_put_event(struct trace_bytes *bytes, uint16_t source, uint64_t time, uint64_t number, uint64_t frame)
{
    const struct {
        uint64_t number;
        char text[8];
    } fields = {number, "word"};
    const struct kernel_record record = {
        .size_bytes = (uint16_t)(sizeof(record) + sizeof(fields) + (frame != 0 ? sizeof(frame) : 0)),
        .source = source,
        .pid = 100,
        .tid = 100,
        .raw_bytes = sizeof(fields),
        .kernel_frames = frame != 0,
        .time = time,
    };

    trace_bytes_put(bytes, &record, sizeof(record));
    trace_bytes_put(bytes, &fields, sizeof(fields));
    if (frame != 0)
        trace_bytes_put_long(bytes, frame);
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

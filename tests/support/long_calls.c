/* SPDX-License-Identifier: MIT */
#include "support/long_calls.h"

#include <stdio.h>
#include <unistd.h>

static void put_record(struct trace_bytes *bytes, uint32_t block, enum event_record record, uint32_t depth)
{
    uint64_t time = LONG_CALLS_TIME(0) + bytes->size_bytes;

    trace_bytes_put_header(bytes, block, record);
    trace_bytes_put(bytes, &depth, sizeof(depth));
    trace_bytes_put_long(bytes, time);
}

void long_calls_make(struct trace_bytes *bytes)
{
    bytes->size_bytes = 0;
    put_record(bytes, 0, EVENT_RECORD_ENTER, 0);
    put_record(bytes, 1, EVENT_RECORD_ENTER, 1);
    while (bytes->size_bytes < LONG_CALLS_CHUNKS * LONG_CALLS_CHUNK_BYTES) {
        if (bytes->size_bytes == LONG_CALLS_CHUNKS / 2 * LONG_CALLS_CHUNK_BYTES) {
            put_record(bytes, 1, EVENT_RECORD_LEAVE, 1);
            put_record(bytes, 1, EVENT_RECORD_ENTER, 1);
        }
        put_record(bytes, 2, EVENT_RECORD_ENTER, 2);
        put_record(bytes, 2, bytes->size_bytes % 5 == 0 ? EVENT_RECORD_UNWOUND : EVENT_RECORD_LEAVE, 2);
    }
}

void long_calls_put(const struct trace_folder *folder, uint32_t tid, uint64_t lost)
{
    static struct trace_bytes bytes;
    char name[64];

    long_calls_make(&bytes);
    snprintf(name, sizeof(name), "100/%u.1.index.gait", tid);
    unlinkat(folder->fd, name, 0);
    trace_folder_put_stream(folder, &(struct trace_stream_plan){.name = name,
                                                                .header = {.kind = TRACE_STREAM_INDEX,
                                                                           .pid = 100,
                                                                           .tid = tid,
                                                                           .generation = 1,
                                                                           .space = 1,
                                                                           .events = EVENTS_HOOKED},
                                                                .bytes = &bytes,
                                                                .piece_bytes = LONG_CALLS_CHUNK_BYTES,
                                                                .lost = lost,
                                                                .pack = true});
}

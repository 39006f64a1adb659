/* SPDX-License-Identifier: MIT */
#include "support/hooked_thread.h"

#include <stdio.h>

void hooked_thread_put(const struct trace_folder *folder, uint32_t tid, const struct hooked_event *events, size_t count)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    char name[64];

    for (size_t i = 0; i < count; i++) {
        uint32_t words[2] = {event_header(events[i].number, events[i].record), events[i].depth};

        trace_bytes_put(&bytes, words, sizeof(words));
        trace_bytes_put_long(&bytes, events[i].time);
    }
    snprintf(name, sizeof(name), "100/%u.1.index.gait", tid);
    trace_folder_put_stream(folder, &(struct trace_stream_plan){.name = name,
                                                                .header = {.kind = TRACE_STREAM_INDEX,
                                                                           .pid = 100,
                                                                           .tid = tid,
                                                                           .generation = 1,
                                                                           .space = 1,
                                                                           .events = EVENTS_HOOKED,
                                                                           .with_times = 1},
                                                                .bytes = &bytes,
                                                                .pack = true});
}

void hooked_thread_put_example(const struct trace_folder *folder)
{
    struct hooked_event events[12];
    size_t count = 0;

    trace_folder_put_example(folder);
    for (uint64_t i = 1; i <= 3; i++) {
        enum event_record end = i == 3 ? EVENT_RECORD_UNWOUND : EVENT_RECORD_LEAVE;

        events[count++] = (struct hooked_event){1, EVENT_RECORD_ENTER, 0, 1000000 * i};
        events[count++] = (struct hooked_event){2, EVENT_RECORD_ENTER, 1, 1000000 * i + 500};
        events[count++] = (struct hooked_event){2, end, 1, 1000000 * i + 1000};
        events[count++] = (struct hooked_event){1, EVENT_RECORD_LEAVE, 0, 1000000 * i + 2500};
    }
    hooked_thread_put(folder, 102, events, count);
}

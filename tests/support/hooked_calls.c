/* SPDX-License-Identifier: MIT */
#include "support/hooked_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void put_record(struct trace_bytes *bytes, enum event_record record, uint32_t block, uint32_t depth,
                       uint64_t time)
{
    trace_bytes_put_header(bytes, block, record);
    trace_bytes_put(bytes, &depth, sizeof(depth));
    trace_bytes_put_long(bytes, time);
}

void hooked_calls_put(const struct trace_folder *folder, uint32_t tid, const char *calls)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    char name[64];
    uint32_t depth = 0;
    uint64_t times[2] = {0, 0};

    for (const char *place = calls; *place != '\0';) {
        char kind = *place++;
        uint32_t block = (uint32_t)strtoul(place, (char **)&place, 10);
        uint64_t time = strtoull(place + 1, (char **)&place, 10);

        times[0] = times[0] == 0 ? time : times[0];
        times[1] = time + 1;
        if (kind == '<')
            put_record(&bytes, EVENT_RECORD_ENTER, block, depth++, time);
        else
            put_record(&bytes, kind == '>' ? EVENT_RECORD_LEAVE : EVENT_RECORD_UNWOUND, block, --depth, time);
        while (*place == ' ')
            place++;
    }
    snprintf(name, sizeof(name), "100/%u.1.index.gait", tid);
    unlinkat(folder->fd, name, 0);
    trace_folder_put_stream(folder,
                            &(struct trace_stream_plan){.name = name,
                                                        .header = {.kind = TRACE_STREAM_INDEX,
                                                                   .pid = 100,
                                                                   .tid = tid,
                                                                   .generation = 1,
                                                                   .space = 1,
                                                                   .events = GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE},
                                                        .bytes = &bytes,
                                                        .times = times});
}

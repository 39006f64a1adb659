/* SPDX-License-Identifier: MIT */
#include "support/detailed_calls.h"

#include "ring/detail_record.h"
#include "ring/detail_value.h"

#include <stdio.h>
#include <unistd.h>

/* A value of 8 bytes, with what stands before it. */
static void put_number(struct trace_bytes *bytes, int32_t number)
{
    struct detail_value value = {.type = DETAIL_TYPE_I32, .data_bytes = sizeof(number)};

    trace_bytes_put(bytes, &value, sizeof(value));
    trace_bytes_put(bytes, &number, sizeof(number));
}

void detailed_calls_enter(struct trace_bytes *bytes, const struct detailed_call *call, int32_t argument)
{
    struct detail_enter enter = {
        .record = {.size_bytes = sizeof(enter) + 8,
                   .kind = DETAIL_ENTER,
                   .depth = call->depth,
                   .time = call->time,
                   .function = call->function},
        .caller = call->caller,
        .values_bytes = 8,
    };

    trace_bytes_put(bytes, &enter, sizeof(enter));
    put_number(bytes, argument);
}

static struct detail_leave leave_of(const struct detailed_call *call, uint64_t time, uint16_t kind, uint32_t size_bytes)
{
    return (struct detail_leave){
        .record =
            {.size_bytes = size_bytes, .kind = kind, .depth = call->depth, .time = time, .function = call->function},
        .entered_time = call->time,
    };
}

void detailed_calls_leave(struct trace_bytes *bytes, const struct detailed_call *call, uint64_t time, int32_t result)
{
    struct detail_leave_values values = {.values_bytes = 8};
    struct detail_leave leave = leave_of(call, time, DETAIL_LEAVE, sizeof(leave) + sizeof(values) + 8);

    trace_bytes_put(bytes, &leave, sizeof(leave));
    trace_bytes_put(bytes, &values, sizeof(values));
    put_number(bytes, result);
}

void detailed_calls_unwind(struct trace_bytes *bytes, const struct detailed_call *call, uint64_t time)
{
    struct detail_leave leave = leave_of(call, time, DETAIL_LEFT, sizeof(leave));

    trace_bytes_put(bytes, &leave, sizeof(leave));
}

void detailed_calls_put(const struct trace_folder *folder, uint32_t tid, const struct trace_bytes *bytes, uint64_t lost)
{
    char name[64];

    snprintf(name, sizeof(name), "100/%u.1.detail.gait", tid);
    unlinkat(folder->fd, name, 0);
    trace_folder_put_stream(
        folder, &(struct trace_stream_plan){
                    .name = name,
                    .header = {.version = 2, .kind = TRACE_STREAM_DETAIL, .pid = 100, .tid = tid, .generation = 1},
                    .bytes = bytes,
                    .lost = lost,
                    .piece_bytes = lost == 0 ? 0 : sizeof(struct detail_enter) + 8});
}

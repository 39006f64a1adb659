/* SPDX-License-Identifier: MIT */
#include "support/told_system_calls.h"

#include "ring/detail_record.h"
#include "ring/detail_value.h"

#include <string.h>

#define OPENAT  257
#define WRITE   1
#define EXECVE  59
#define GETPPID 110

/* A piece of memory: its address, and what is there; for records that end at a multiple of 8. */
static uint32_t put_piece(uint8_t *bytes, uint64_t address, uint8_t type, const char *data)
{
    struct detail_value pointer = {.type = DETAIL_TYPE_POINTER, .data_bytes = sizeof(address)};
    struct detail_value value = {.type = type, .data_bytes = (uint16_t)strlen(data)};

    memcpy(bytes, &pointer, sizeof(pointer));
    memcpy(bytes + 4, &address, sizeof(address));
    memcpy(bytes + 12, &value, sizeof(value));
    memcpy(bytes + 16, data, strlen(data));
    return (uint32_t)(16 + strlen(data));
}

static void put_call(struct trace_bytes *bytes, const struct detail_system_call *call, const uint8_t *values)
{
    struct detail_system_call told = *call;
    uint32_t padded = (told.values_bytes + 7) & ~7u;

    told.record.kind = DETAIL_SYSTEM_CALL;
    told.record.size_bytes = (uint32_t)sizeof(told) + padded;
    trace_bytes_put(bytes, &told, sizeof(told));
    trace_bytes_put(bytes, values, padded);
}

static void put_enter(struct trace_bytes *bytes, uint64_t number, uint64_t time)
{
    struct detail_system_call_enter enter = {
        .record = {.size_bytes = sizeof(enter), .kind = DETAIL_SYSTEM_CALL_ENTER, .time = time, .function = number}};

    trace_bytes_put(bytes, &enter, sizeof(enter));
}

void told_system_calls_put(struct trace_folder *folder)
{
    struct detail_system_call call = {.record = {.time = 1500, .function = OPENAT},
                                      .entered_time = 1400,
                                      .result = -2,
                                      .arguments = {0xffffff9c, 0x7000, 0, 0}};
    struct trace_bytes bytes = {.size_bytes = 0};
    uint8_t values[64] = {0};

    call.values_bytes = put_piece(values, 0x7000, DETAIL_TYPE_STRING, "/no");
    put_call(&bytes, &call, values);
    call = (struct detail_system_call){
        .record = {.time = 1700, .function = WRITE}, .entered_time = 1600, .result = 2, .arguments = {1, 0x8000, 2}};
    memset(values, 0, sizeof(values));
    call.values_bytes = put_piece(values, 0x8000, DETAIL_TYPE_BUFFER, "a\n");
    put_call(&bytes, &call, values);
    put_enter(&bytes, EXECVE, 1800);
    call =
        (struct detail_system_call){.record = {.time = 1850, .function = EXECVE}, .entered_time = 1800, .result = -13};
    put_call(&bytes, &call, values);
    call =
        (struct detail_system_call){.record = {.time = 1900, .function = GETPPID}, .entered_time = 1880, .result = 42};
    put_call(&bytes, &call, values);
    put_enter(&bytes, EXECVE, 1950);
    trace_folder_put_stream(
        folder,
        &(struct trace_stream_plan){.name = "100/101.1.detail.gait",
                                    .header = {.kind = TRACE_STREAM_DETAIL, .pid = 100, .tid = 101, .generation = 1},
                                    .bytes = &bytes});
}

/* SPDX-License-Identifier: MIT */
#include "trace/trace_details.h"

#include "hosted/error_text.h"

#include <errno.h>
#include <string.h>

static void pass_enter(const struct trace_details_receiver *receiver, const uint8_t *place)
{
    struct detail_enter enter;

    memcpy(&enter, place, sizeof(enter));
    if (receiver->enter != NULL)
        receiver->enter(receiver->context, &enter, place + sizeof(enter), detail_record_values(place));
}

static void pass_leave(const struct trace_details_receiver *receiver, const uint8_t *place)
{
    struct detail_leave leave;

    memcpy(&leave, place, sizeof(leave));
    if (receiver->leave != NULL)
        receiver->leave(receiver->context, &leave, detail_record_values(place));
}

static void pass_stack(const struct trace_details_receiver *receiver, const uint8_t *place)
{
    struct detail_stack stack;

    memcpy(&stack, place, sizeof(stack));
    if (receiver->stack != NULL)
        receiver->stack(receiver->context, &stack, place + sizeof(stack));
}

static void pass_system_call(const struct trace_details_receiver *receiver, const uint8_t *place)
{
    struct detail_system_call call;

    memcpy(&call, place, sizeof(call));
    if (receiver->system_call != NULL)
        receiver->system_call(receiver->context, &call, detail_record_values(place));
}

static void pass_system_call_enter(const struct trace_details_receiver *receiver, const uint8_t *place)
{
    struct detail_system_call_enter enter;

    memcpy(&enter, place, sizeof(enter));
    if (receiver->system_call_enter != NULL)
        receiver->system_call_enter(receiver->context, &enter, detail_record_values(place));
}

static void pass_probe(const struct trace_details_receiver *receiver, const uint8_t *place)
{
    struct detail_probe probe;

    memcpy(&probe, place, sizeof(probe));
    if (receiver->probe != NULL)
        receiver->probe(receiver->context, &probe, detail_record_values(place));
}

static void pass_on(const struct trace_details_receiver *receiver, const uint8_t *place)
{
    struct detail_record record;

    memcpy(&record, place, sizeof(record));
    switch ((enum detail_record_kind)record.kind) {
    case DETAIL_ENTER:
        pass_enter(receiver, place);
        break;
    case DETAIL_LEAVE:
    case DETAIL_LEFT:
        pass_leave(receiver, place);
        break;
    case DETAIL_STACK:
        pass_stack(receiver, place);
        break;
    case DETAIL_SYSTEM_CALL:
        pass_system_call(receiver, place);
        break;
    case DETAIL_SYSTEM_CALL_ENTER:
        pass_system_call_enter(receiver, place);
        break;
    case DETAIL_PROBE:
        pass_probe(receiver, place);
        break;
    }
}

static void read_chunk(const struct stream_chunk *chunk, const struct trace_details_receiver *receiver,
                       struct trace_details_end *end)
{
    size_t at = 0, size;

    end->gap_count += chunk->has_gap_before;
    while ((size = detail_record_check(chunk->bytes + at, chunk->size_bytes - at)) != 0) {
        pass_on(receiver, chunk->bytes + at);
        end->record_count++;
        at += size;
    }
    if (at == chunk->size_bytes)
        return;
    if (end->bad_bytes == 0) {
        end->first_bad_chunk = chunk->sequence;
        end->first_bad_at = at;
    }
    end->bad_bytes += chunk->size_bytes - at;
}

int trace_details_read(int folder, const char *path, const struct trace_details_receiver *receiver,
                       struct trace_details_end *end_out, struct gait_error *err)
{
    struct trace_details_end end = {.record_count = 0};
    struct stream_reader reader;
    struct stream_chunk chunk;
    int result = stream_reader_open(&reader, folder, path, err);

    if (result != 0)
        return result;
    if (reader.header.kind != TRACE_STREAM_DETAIL) {
        stream_reader_close(&reader);
        return error_set(err, EPROTO, "cannot read '%s': it is a stream, but not one of details; files were mixed up",
                         path);
    }
    while (stream_reader_next(&reader, &chunk))
        read_chunk(&chunk, receiver, &end);
    end.header = reader.header;
    end.stream = reader.end;
    stream_reader_close(&reader);
    *end_out = end;
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "trace/trace_details.h"

#include "libgait/error.h"

#include <errno.h>
#include <string.h>

static void pass_on(const struct trace_details_receiver *receiver, const uint8_t *place)
{
    struct detail_record record;
    struct detail_enter enter;
    struct detail_leave leave;
    struct detail_stack stack;

    memcpy(&record, place, sizeof(record));
    if (record.kind == DETAIL_ENTER) {
        memcpy(&enter, place, sizeof(enter));
        receiver->enter(receiver->context, &enter, place + sizeof(enter), detail_record_values(place));
    } else if (record.kind == DETAIL_STACK) {
        memcpy(&stack, place, sizeof(stack));
        if (receiver->stack != NULL)
            receiver->stack(receiver->context, &stack, place + sizeof(stack));
    } else {
        memcpy(&leave, place, sizeof(leave));
        receiver->leave(receiver->context, &leave, detail_record_values(place));
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

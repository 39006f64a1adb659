/* SPDX-License-Identifier: MIT */
#include "record/recorded_stream.h"

#include <errno.h>
#include <stdlib.h>

int recorded_stream_create(const struct recorded_stream_plan *plan, struct recorded_stream **stream_out)
{
    struct recorded_stream *stream = calloc(1, sizeof(*stream));

    if (stream == NULL)
        return -ENOMEM;
    stream->plan = *plan;
    *stream_out = stream;
    return 0;
}

void recorded_stream_destroy(struct recorded_stream *stream)
{
    free(stream);
}

int recorded_stream_open(struct recorded_stream *stream)
{
    const struct recorded_stream_plan *plan = &stream->plan;
    int result;

    if (stream->is_open)
        return 0;
    result = stream_writer_open(&stream->writer, plan->folder, plan->name, &plan->header, plan->encoder);
    stream->is_open = result == 0;
    return result;
}

int recorded_stream_put(struct recorded_stream *stream, const struct stream_piece *piece)
{
    struct encoded_chunk chunk;
    int result = chunk_encoder_run(stream->plan.encoder, piece, &chunk);

    return result == 0 ? recorded_stream_append(stream, &chunk) : result;
}

int recorded_stream_append(struct recorded_stream *stream, const struct encoded_chunk *chunk)
{
    struct encoded_chunk written = *chunk;
    int result = recorded_stream_open(stream);

    if (result != 0)
        return result;
    if (stream->has_gap)
        written.header.flags |= TRACE_CHUNK_GAP;
    result = stream_writer_append(&stream->writer, &written);
    if (result != 0)
        return result;
    stream->has_gap = false;
    stream->written_bytes += chunk->header.raw_bytes;
    stream->written_count += chunk->record_count;
    return 0;
}

void recorded_stream_leave_out(struct recorded_stream *stream)
{
    stream->has_gap = true;
}

int recorded_stream_close(struct recorded_stream *stream)
{
    if (!stream->is_open)
        return 0;
    stream->is_open = false;
    return stream_writer_close(&stream->writer, stream->lost_behind);
}

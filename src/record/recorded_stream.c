/* SPDX-License-Identifier: MIT */
#include "record/recorded_stream.h"

#include "trace/trace_files.h"

#include <errno.h>
#include <stdlib.h>

/* Records are gathered for that long. With the time between two drains it makes at most ten milliseconds. */
#define GATHER_NS 6000000

int recorded_stream_create(const struct recorded_stream_plan *plan, struct recorded_stream **stream_out)
{
    struct recorded_stream *stream = calloc(1, sizeof(*stream));

    if (stream == NULL)
        return -ENOMEM;
    stream->plan = *plan;
    stream->piece = plan->piece;
    *stream_out = stream;
    return 0;
}

void recorded_stream_destroy(struct recorded_stream *stream)
{
    if (stream != NULL)
        chunk_collector_deinit(&stream->collector);
    free(stream);
}

static void get_name(const struct recorded_stream *stream, char name_out[TRACE_THREAD_NAME_BYTES])
{
    const struct trace_file file = {
        .kind = stream->plan.header.kind == TRACE_STREAM_DETAIL ? TRACE_FILE_DETAIL : TRACE_FILE_INDEX,
        .tid = stream->plan.header.tid,
        .generation = stream->plan.header.generation,
        .piece = stream->piece,
    };

    trace_thread_name(&file, name_out);
}

int recorded_stream_open(struct recorded_stream *stream)
{
    const struct recorded_stream_plan *plan = &stream->plan;
    char name[TRACE_THREAD_NAME_BYTES];
    int result;

    if (stream->is_open)
        return 0;
    get_name(stream, name);
    result = stream_writer_open(&stream->writer, plan->folder, name, &plan->header, plan->encoder);
    if (result != 0)
        return result;
    stream_writer_go_on(&stream->writer, stream->sequence);
    stream->is_open = true;
    return 0;
}

int recorded_stream_put(struct recorded_stream *stream, const struct chunk_contents *contents)
{
    struct encoded_chunk chunk;
    int result = chunk_encoder_run(stream->plan.encoder, contents, &chunk);

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

static int put(void *context, const struct chunk_contents *contents)
{
    return recorded_stream_put(context, contents);
}

int recorded_stream_gather(struct recorded_stream *stream, const struct chunk_contents *contents, int64_t now_ns)
{
    const struct chunk_taker taker = {put, stream};

    stream->is_fed = true;
    return chunk_collector_add(&stream->collector, contents, now_ns, &taker);
}

int recorded_stream_flush(struct recorded_stream *stream, int64_t now_ns)
{
    const struct chunk_taker taker = {put, stream};
    bool is_due = !stream->is_fed || now_ns - stream->collector.began_ns >= GATHER_NS;

    stream->is_fed = false;
    return is_due ? chunk_collector_flush(&stream->collector, &taker) : 0;
}

void recorded_stream_lose(struct recorded_stream *stream, uint64_t size_bytes)
{
    stream->unwritten_bytes += size_bytes;
}

static void lose_gathered(struct recorded_stream *stream)
{
    recorded_stream_lose(stream, stream->collector.contents.size_bytes);
    chunk_collector_deinit(&stream->collector);
}

int recorded_stream_finish(struct recorded_stream *stream, uint64_t lost_behind)
{
    const struct chunk_taker taker = {put, stream};
    int result = chunk_collector_flush(&stream->collector, &taker);

    lose_gathered(stream);
    stream->is_ended = true;
    stream->lost_behind = lost_behind;
    return result;
}

void recorded_stream_leave_out(struct recorded_stream *stream)
{
    stream->has_gap = true;
}

/* Ends the file that is open. */
static int end_file(struct recorded_stream *stream, uint64_t lost_behind)
{
    int result = stream_writer_close(&stream->writer, lost_behind);

    stream->is_open = false;
    stream->sequence = stream->writer.sequence;
    stream->file_bytes += stream->writer.file_bytes;
    return result;
}

int recorded_stream_turn(struct recorded_stream *stream, uint32_t piece)
{
    stream->piece = piece;
    return stream->is_open ? end_file(stream, 0) : 0;
}

uint64_t recorded_stream_file_bytes(const struct recorded_stream *stream)
{
    return stream->file_bytes + (stream->is_open ? stream->writer.file_bytes : 0);
}

int recorded_stream_close(struct recorded_stream *stream)
{
    int result = 0;

    lose_gathered(stream);
    /* What was lost behind the last chunk is told in a footer, if that takes another piece. */
    if (!stream->is_open && stream->lost_behind != 0 && stream->file_bytes != 0)
        result = recorded_stream_open(stream);
    return result == 0 && stream->is_open ? end_file(stream, stream->lost_behind) : result;
}

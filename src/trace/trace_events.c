/* SPDX-License-Identifier: MIT */
/*
 * A chunk has whole records, so each one can be read without those before it; what the decoder keeps from chunk to
 * chunk is the calls that have not returned, and the block whose instructions may still be cut.
 */
#include "trace/trace_events.h"

#include "libgait/error.h"

#include <errno.h>

/* One reading. */
struct walk {
    const struct trace_events_receiver *receiver;
    const struct stream_chunk *chunk;
    struct event_decoder decoder;
    struct event_blocks blocks;
    struct trace_events_end end;
};

static int pass_on(void *context, const struct gait_event *events, size_t count)
{
    const struct walk *walk = context;

    return walk->receiver->process(walk->receiver->context, events, count, walk->chunk);
}

static void lose(struct walk *walk, uint64_t bytes)
{
    if (bytes == 0)
        return;
    /* What follows the gap is not what cuts the block before it. */
    event_decoder_finish(&walk->decoder);
    if (walk->receiver->lose != NULL)
        walk->receiver->lose(walk->receiver->context, bytes);
}

/* What was left out on purpose is not lost, but no more does what follows it cut the block before it. */
static void skip(struct walk *walk)
{
    event_decoder_finish(&walk->decoder);
    walk->end.gap_count++;
}

static void read_chunk(struct walk *walk, const struct stream_chunk *chunk)
{
    const uint8_t *end = chunk->bytes + chunk->size_bytes, *place;
    int error;

    /* Before the decoder learns of the chunk, for what waits belongs to the one before. */
    lose(walk, chunk->lost_before);
    if (chunk->has_gap_before)
        skip(walk);
    walk->chunk = chunk;
    place = event_decoder_run(&walk->decoder, &walk->blocks, chunk->bytes, end, &error);
    if (place == end || walk->decoder.is_closed)
        return;
    if (walk->end.bad_bytes == 0) {
        walk->end.first_bad_chunk = chunk->sequence;
        walk->end.first_bad_at = (uint64_t)(place - chunk->bytes);
    }
    walk->end.bad_bytes += (uint64_t)(end - place);
    lose(walk, (uint64_t)(end - place));
}

int trace_events_read(int folder, const char *path, const struct trace_blocks *blocks,
                      const struct trace_events_receiver *receiver, struct trace_events_end *end_out,
                      struct gait_error *err)
{
    struct stream_reader reader;
    struct stream_chunk chunk, before = {.bytes = NULL};
    struct trace_block_space space = {.blocks = blocks};
    struct walk walk = {.receiver = receiver, .chunk = &before, .blocks = trace_blocks_of(&space)};
    int result = stream_reader_open(&reader, folder, path, err);

    if (result != 0)
        return result;
    if (reader.header.kind != TRACE_STREAM_INDEX) {
        stream_reader_close(&reader);
        return error_set(err, EPROTO, "cannot read '%s': it is a stream, but not one of events; files were mixed up",
                         path);
    }
    space.space = reader.header.space;
    walk.decoder = (struct event_decoder){
        .wanted = reader.header.events,
        .tid = reader.header.tid,
        .with_times = reader.header.with_times != 0,
        .is_whole = reader.header.is_whole != 0,
        .receiver = {pass_on, &walk},
    };
    while (!walk.decoder.is_closed && stream_reader_next(&reader, &chunk)) {
        read_chunk(&walk, &chunk);
        before = chunk;
        before.bytes = NULL;
        walk.chunk = &before;
    }
    event_decoder_finish(&walk.decoder);
    lose(&walk, reader.end.lost_behind);
    walk.end.header = reader.header;
    walk.end.stream = reader.end;
    event_decoder_deinit(&walk.decoder);
    stream_reader_close(&reader);
    *end_out = walk.end;
    return 0;
}

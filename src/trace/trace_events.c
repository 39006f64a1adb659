/* SPDX-License-Identifier: MIT */
/*
 * A chunk has whole records, so each one can be read without those before it; what the decoder keeps from chunk to
 * chunk is the calls that have not returned, and the block whose instructions may still be cut.
 */
#include "trace/trace_events.h"

#include "libgait/error.h"

#include <errno.h>

/* So many records have about one time, if they have none of their own: they fit into one batch of the decoder. */
#define SLICE_RECORDS 128

/* One reading. */
struct walk {
    const struct trace_events_receiver *receiver;
    struct trace_span span;
    uint8_t sizes[1u << EVENT_KIND_BITS]; /* of records, by their kind; 0: there is none */
    struct event_decoder decoder;
    struct event_blocks blocks;
    struct trace_events_end end;
};

static int pass_on(void *context, const struct gait_event *events, size_t count)
{
    struct walk *walk = context;
    struct trace_span span = walk->span;
    int result;

    /* Should more come of the same slice, it is for the other half of the time. */
    span.last_guess = span.first_guess + (span.last_guess - span.first_guess) / 2;
    result = walk->receiver->process(walk->receiver->context, events, count, &span);
    walk->span.first_guess = span.last_guess;
    return result;
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

static void learn_sizes(struct walk *walk, struct event_format format)
{
    for (uint32_t kind = 0; kind < sizeof(walk->sizes); kind++)
        walk->sizes[kind] = (uint8_t)event_record_bytes(format, (enum event_record)kind);
}

/* A time within the span for something at an offset of so many bytes. */
static uint64_t guess_time(const struct trace_span *span, uint64_t offset, uint64_t size_bytes)
{
    return span->first_time + (uint64_t)((unsigned __int128)(span->last_time - span->first_time) * offset / size_bytes);
}

/* Where a slice that begins there ends; what is no record is a slice by itself. */
static const uint8_t *slice_end(const struct walk *walk, const uint8_t *place, const uint8_t *end)
{
    for (unsigned i = 0; i < SLICE_RECORDS && place < end; i++) {
        /* The kind is in the first byte. */
        uint8_t bytes = walk->sizes[*place & ((1u << EVENT_KIND_BITS) - 1)];

        if (bytes == 0 || end - place < bytes)
            return end;
        place += bytes;
    }
    return place;
}

/* Reads the records between two marks. Returns where it had to end. */
static const uint8_t *read_between(struct walk *walk, const uint8_t *start, const uint8_t *end)
{
    struct trace_span *span = &walk->span;
    const uint8_t *place = start, *slice = start;
    int error;

    while (place < end && place == slice && !walk->decoder.is_closed) {
        slice = span->is_interpolated ? slice_end(walk, place, end) : end;
        span->first_guess = guess_time(span, (uint64_t)(place - start), (uint64_t)(end - start));
        span->last_guess = guess_time(span, (uint64_t)(slice - start), (uint64_t)(end - start));
        place = event_decoder_run(&walk->decoder, &walk->blocks, place, slice, &error);
    }
    return place;
}

/* Reads the records of a chunk, from mark to mark. Returns where it had to end. */
static const uint8_t *read_records(struct walk *walk, const struct stream_chunk *chunk)
{
    const uint8_t *place = chunk->bytes, *end;
    struct trace_span *span = &walk->span;

    span->last_time = chunk->first_time;
    for (uint32_t i = 0; i <= chunk->mark_count; i++) {
        uint64_t time = i < chunk->mark_count ? chunk->marks[i].time : chunk->last_time;

        end = chunk->bytes + (i < chunk->mark_count ? chunk->marks[i].offset : chunk->size_bytes);
        span->first_time = span->last_time;
        span->last_time = time > span->first_time ? time : span->first_time;
        place = read_between(walk, place, end);
        if (place != end)
            break;
    }
    return place;
}

/* What was left out on purpose is not lost, but no more does what follows it cut the block before it. */
static void skip(struct walk *walk)
{
    event_decoder_finish(&walk->decoder);
    walk->end.gap_count++;
    if (walk->receiver->lose != NULL)
        walk->receiver->lose(walk->receiver->context, 0);
}

static void read_chunk(struct walk *walk, const struct stream_chunk *chunk)
{
    const uint8_t *end = chunk->bytes + chunk->size_bytes, *place;

    /* Before the decoder learns of the chunk, for what waits belongs to the one before. */
    lose(walk, chunk->lost_before);
    if (chunk->has_gap_before)
        skip(walk);
    walk->span.sequence = chunk->sequence;
    place = read_records(walk, chunk);
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
    struct stream_chunk chunk;
    struct trace_block_space space = {.blocks = blocks};
    struct walk walk = {.receiver = receiver, .blocks = trace_blocks_of(&space)};
    struct event_format format;
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
    format = event_format_of(reader.header.events, walk.decoder.with_times);
    learn_sizes(&walk, format);
    walk.span.is_interpolated = !format.with_times;
    while (!walk.decoder.is_closed && stream_reader_next(&reader, &chunk))
        read_chunk(&walk, &chunk);
    event_decoder_finish(&walk.decoder);
    lose(&walk, reader.end.lost_behind);
    walk.end.header = reader.header;
    walk.end.stream = reader.end;
    event_decoder_deinit(&walk.decoder);
    stream_reader_close(&reader);
    *end_out = walk.end;
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A chunk has whole records, so each one can be read without those before it; what the decoder keeps from chunk to
 * chunk is the calls that have not returned, and the block whose instructions may still be cut.
 */
#include "trace/trace_events.h"

#include "hosted/error_text.h"

#include <errno.h>
#include <stdlib.h>

/* So many records have about one time, if they have none of their own: they fit into one batch of the decoder. */
#define SLICE_RECORDS 128

struct trace_events_walk {
    struct trace_events_receiver receiver;
    struct trace_span span;
    uint8_t sizes[1u << EVENT_KIND_BITS]; /* of records, by their kind; 0: there is none */
    struct event_decoder decoder;
    struct trace_block_space space;
    struct event_blocks blocks;
    bool is_begun;          /* the first piece was opened */
    uint64_t next_sequence; /* of the chunk that should come next */
    uint64_t skip_before;   /* the counter */
    struct trace_events_end end;

    int folder;
    const struct trace_file *pieces;
    size_t piece_count;
    size_t next_piece;
    bool is_open; /* the piece before that is: */
    struct stream_reader reader;
    int result; /* why the first piece that could not be read was not; 0: all could */
    struct gait_error err;
};

static int pass_on(void *context, const struct gait_event *events, size_t count)
{
    struct trace_events_walk *walk = context;
    struct trace_span span = walk->span;
    int result;

    /* Should more come of the same slice, it is for the other half of the time. */
    span.last_guess = span.first_guess + (span.last_guess - span.first_guess) / 2;
    result = walk->receiver.process(walk->receiver.context, events, count, &span);
    walk->span.first_guess = span.last_guess;
    return result;
}

static void lose(struct trace_events_walk *walk, uint64_t bytes)
{
    if (bytes == 0)
        return;
    /* What follows the gap is not what cuts the block before it. */
    event_decoder_finish(&walk->decoder);
    if (walk->receiver.lose != NULL)
        walk->receiver.lose(walk->receiver.context, bytes);
}

static void learn_sizes(struct trace_events_walk *walk, struct event_format format)
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
static const uint8_t *slice_end(const struct trace_events_walk *walk, const uint8_t *place, const uint8_t *end)
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
static const uint8_t *read_between(struct trace_events_walk *walk, const uint8_t *start, const uint8_t *end)
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
static const uint8_t *read_records(struct trace_events_walk *walk, const struct stream_chunk *chunk)
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
static void skip(struct trace_events_walk *walk)
{
    event_decoder_finish(&walk->decoder);
    walk->end.gap_count++;
    if (walk->receiver.skip != NULL)
        walk->receiver.skip(walk->receiver.context);
}

static void read_chunk(struct trace_events_walk *walk, const struct stream_chunk *chunk)
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

/* Where a piece begins: is it where the one before ended? */
static void begin_piece(struct trace_events_walk *walk, const struct stream_reader *reader)
{
    /* Whoever returns may have been called in what is missing. */
    if (reader->end.first_sequence != walk->next_sequence) {
        skip(walk);
        walk->decoder.is_whole = false;
    }
}

static void begin_stream(struct trace_events_walk *walk, const struct trace_stream_header *header)
{
    struct event_format format;

    walk->end.header = *header;
    walk->space.space = header->space;
    walk->decoder = (struct event_decoder){
        .wanted = header->events,
        .tid = header->tid,
        .with_times = header->with_times != 0,
        .is_whole = header->is_whole != 0,
        .receiver = {pass_on, walk},
    };
    format = event_format_of(header->events, walk->decoder.with_times);
    learn_sizes(walk, format);
    walk->span.is_interpolated = !format.with_times;
    walk->is_begun = true;
}

static bool is_of_stream(const struct trace_events_walk *walk, const struct trace_stream_header *header)
{
    const struct trace_stream_header *first = &walk->end.header;

    return header->kind == TRACE_STREAM_INDEX &&
           (!walk->is_begun ||
            (header->pid == first->pid && header->tid == first->tid && header->space == first->space &&
             header->events == first->events && header->with_times == first->with_times));
}

static void open_piece(struct trace_events_walk *walk)
{
    const char *path = walk->pieces[walk->next_piece++].path;
    struct gait_error *err = walk->result == 0 ? &walk->err : NULL;
    int result = stream_reader_open(&walk->reader, walk->folder, path, err);

    if (result == 0 && !is_of_stream(walk, &walk->reader.header)) {
        stream_reader_close(&walk->reader);
        result = error_set(err, EPROTO, "cannot read '%s': it is a stream, but not one of %s; files were mixed up",
                           path, walk->is_begun ? "the same thread's events" : "events");
    }
    if (result == 0 && !walk->is_begun)
        begin_stream(walk, &walk->reader.header);
    walk->is_open = result == 0;
    if (walk->result == 0)
        walk->result = result;
}

static void close_piece(struct trace_events_walk *walk)
{
    lose(walk, walk->reader.end.lost_behind);
    if (walk->end.path == NULL || walk->end.stream.state == STREAM_COMPLETE ||
        (walk->end.stream.state == STREAM_CUT_OFF && walk->reader.end.state > STREAM_CUT_OFF)) {
        walk->end.stream = walk->reader.end;
        walk->end.path = walk->pieces[walk->next_piece - 1].path;
    }
    stream_reader_close(&walk->reader);
    walk->is_open = false;
}

static bool read_next_chunk(struct trace_events_walk *walk)
{
    struct stream_chunk chunk;

    if (walk->decoder.is_closed)
        return false;
    if (walk->skip_before != 0 && stream_reader_skip(&walk->reader, walk->skip_before) != 0) {
        skip(walk);
        walk->decoder.is_whole = false;
    }
    if (!stream_reader_next(&walk->reader, &chunk))
        return false;
    if (walk->reader.end.chunk_count == 1)
        begin_piece(walk, &walk->reader);
    walk->next_sequence = chunk.sequence + 1;
    read_chunk(walk, &chunk);
    return true;
}

int trace_events_begin(struct trace_events_walk **walk_out, int folder, const struct trace_file *pieces,
                       size_t piece_count, const struct trace_blocks *blocks,
                       const struct trace_events_receiver *receiver)
{
    struct trace_events_walk *walk = calloc(1, sizeof(*walk));

    if (walk == NULL)
        return -ENOMEM;
    walk->receiver = *receiver;
    walk->space.blocks = blocks;
    walk->blocks = trace_blocks_of(&walk->space);
    walk->folder = folder;
    walk->pieces = pieces;
    walk->piece_count = piece_count;
    *walk_out = walk;
    return 0;
}

void trace_events_skip(struct trace_events_walk *walk, uint64_t before)
{
    walk->skip_before = before;
}

bool trace_events_step(struct trace_events_walk *walk)
{
    while (walk->is_open || (walk->next_piece < walk->piece_count && !walk->decoder.is_closed)) {
        if (!walk->is_open)
            open_piece(walk);
        else if (read_next_chunk(walk))
            return true;
        else
            close_piece(walk);
    }
    event_decoder_finish(&walk->decoder);
    return false;
}

int trace_events_end(struct trace_events_walk *walk, struct trace_events_end *end_out, struct gait_error *err)
{
    int result = walk->result;

    if (walk->is_open)
        close_piece(walk);
    event_decoder_finish(&walk->decoder);
    event_decoder_deinit(&walk->decoder);
    *end_out = walk->end;
    if (result != 0 && err != NULL)
        *err = walk->err;
    free(walk);
    return result;
}

int trace_events_read(int folder, const struct trace_file *pieces, size_t piece_count,
                      const struct trace_blocks *blocks, const struct trace_events_receiver *receiver,
                      struct trace_events_end *end_out, struct gait_error *err)
{
    struct trace_events_walk *walk;
    int result = trace_events_begin(&walk, folder, pieces, piece_count, blocks, receiver);

    if (result != 0)
        return error_set(err, result, "cannot read '%s': there is no memory", pieces[0].path);
    while (trace_events_step(walk))
        ;
    return trace_events_end(walk, end_out, err);
}

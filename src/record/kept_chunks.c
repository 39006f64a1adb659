/* SPDX-License-Identifier: MIT */
/*
 * A queue: chunks come at its end with later and later times, and go from its front. They are kept encoded, as they
 * would be written: that takes least memory.
 */
#include "record/kept_chunks.h"

#include "record/recorded_stream.h"

#include <stdlib.h>
#include <string.h>

struct kept_chunk {
    struct kept_chunk *next;
    struct recorded_stream *stream;
    struct encoded_chunk chunk; /* what is stored is below */
    uint8_t stored[];
};

/* What malloc takes for itself. */
#define OVERHEAD_BYTES 16

static size_t memory_of(size_t size_bytes)
{
    return sizeof(struct kept_chunk) + size_bytes + OVERHEAD_BYTES;
}

static void note_time(uint64_t *until, uint64_t last_time)
{
    if (last_time > *until)
        *until = last_time;
}

/* Takes the one out that `place` leads to; NULL: there is none before it. */
static void take_out(struct kept_chunks *chunks, struct kept_chunk **place, struct kept_chunk *previous)
{
    struct kept_chunk *kept = *place;

    *place = kept->next;
    if (kept->next == NULL)
        chunks->last = previous;
    chunks->memory_bytes -= memory_of(kept->chunk.header.stored_bytes);
    kept->stream->kept_count--;
    free(kept);
}

static void drop_first(struct kept_chunks *chunks, uint64_t *until)
{
    note_time(until, chunks->first->chunk.header.last_time);
    recorded_stream_leave_out(chunks->first->stream);
    take_out(chunks, &chunks->first, NULL);
}

void kept_chunks_init(struct kept_chunks *chunks, size_t memory_bytes_max)
{
    *chunks = (struct kept_chunks){.memory_bytes_max = memory_bytes_max};
}

void kept_chunks_deinit(struct kept_chunks *chunks)
{
    while (chunks->first != NULL)
        drop_first(chunks, &chunks->aged_until);
}

static struct kept_chunk *copy_of(const struct encoded_chunk *chunk, struct recorded_stream *stream)
{
    struct kept_chunk *copy = malloc(sizeof(*copy) + chunk->header.stored_bytes);

    if (copy == NULL)
        return NULL;
    *copy = (struct kept_chunk){.stream = stream, .chunk = *chunk};
    memcpy(copy->stored, chunk->stored, chunk->header.stored_bytes);
    copy->chunk.stored = copy->stored;
    return copy;
}

static void add_last(struct kept_chunks *chunks, struct kept_chunk *kept)
{
    if (chunks->last == NULL)
        chunks->first = kept;
    else
        chunks->last->next = kept;
    chunks->last = kept;
    chunks->memory_bytes += memory_of(kept->chunk.header.stored_bytes);
    kept->stream->kept_count++;
}

int kept_chunks_add(struct kept_chunks *chunks, struct recorded_stream *stream, const struct chunk_contents *contents)
{
    struct encoded_chunk chunk;
    struct kept_chunk *copy;
    int result = chunk_encoder_run(stream->plan.encoder, contents, &chunk);
    size_t memory;

    if (result != 0)
        return result;
    memory = memory_of(chunk.header.stored_bytes);
    while (chunks->first != NULL && chunks->memory_bytes + memory > chunks->memory_bytes_max)
        drop_first(chunks, &chunks->crowded_until);
    copy = memory > chunks->memory_bytes_max ? NULL : copy_of(&chunk, stream);
    if (copy != NULL) {
        add_last(chunks, copy);
    } else {
        note_time(&chunks->crowded_until, contents->last_time);
        recorded_stream_leave_out(stream);
    }
    return 0;
}

void kept_chunks_age(struct kept_chunks *chunks, uint64_t oldest)
{
    while (chunks->first != NULL && chunks->first->chunk.header.last_time < oldest)
        drop_first(chunks, &chunks->aged_until);
}

static int append(const struct kept_chunk *kept)
{
    return recorded_stream_append(kept->stream, &kept->chunk);
}

static int lose(const struct kept_chunk *kept)
{
    recorded_stream_lose(kept->stream, kept->chunk.header.raw_bytes);
    return 0;
}

/* Does that with all that reach into a time, up to the first error. */
static int hand_out(struct kept_chunks *chunks, uint64_t from, uint64_t to, int (*take)(const struct kept_chunk *kept))
{
    struct kept_chunk **place, *kept, *previous = NULL;

    kept_chunks_age(chunks, from);
    for (place = &chunks->first; (kept = *place) != NULL;) {
        int result;

        if (kept->chunk.header.first_time > to) {
            previous = kept;
            place = &kept->next;
            continue;
        }
        result = take(kept);
        if (result != 0)
            return result;
        take_out(chunks, place, previous);
    }
    return 0;
}

int kept_chunks_write(struct kept_chunks *chunks, uint64_t from, uint64_t to)
{
    return hand_out(chunks, from, to, append);
}

void kept_chunks_lose(struct kept_chunks *chunks, uint64_t from, uint64_t to)
{
    (void)!hand_out(chunks, from, to, lose);
}

void kept_chunks_forget(struct kept_chunks *chunks, const struct recorded_stream *stream)
{
    struct kept_chunk **place = &chunks->first, *kept, *previous = NULL;

    while (stream->kept_count != 0 && (kept = *place) != NULL) {
        if (kept->stream == stream) {
            take_out(chunks, place, previous);
        } else {
            previous = kept;
            place = &kept->next;
        }
    }
}

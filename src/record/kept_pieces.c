/* SPDX-License-Identifier: MIT */
/*
 * A queue: pieces come at its end with later and later times, and go from its front. They are kept encoded, as they
 * would be written: that takes least memory.
 */
#include "record/kept_pieces.h"

#include "record/recorded_stream.h"

#include <stdlib.h>
#include <string.h>

struct kept_piece {
    struct kept_piece *next;
    struct recorded_stream *stream;
    struct encoded_chunk chunk; /* what is stored is below */
    uint8_t stored[];
};

/* What malloc takes for itself. */
#define OVERHEAD_BYTES 16

static size_t memory_of(size_t size_bytes)
{
    return sizeof(struct kept_piece) + size_bytes + OVERHEAD_BYTES;
}

static void note_time(uint64_t *until, uint64_t last_time)
{
    if (last_time > *until)
        *until = last_time;
}

/* Takes the one out that `place` leads to; NULL: there is none before it. */
static void take_out(struct kept_pieces *pieces, struct kept_piece **place, struct kept_piece *previous)
{
    struct kept_piece *piece = *place;

    *place = piece->next;
    if (piece->next == NULL)
        pieces->last = previous;
    pieces->memory_bytes -= memory_of(piece->chunk.header.stored_bytes);
    piece->stream->kept_count--;
    free(piece);
}

static void drop_first(struct kept_pieces *pieces, uint64_t *until)
{
    note_time(until, pieces->first->chunk.header.last_time);
    recorded_stream_leave_out(pieces->first->stream);
    take_out(pieces, &pieces->first, NULL);
}

void kept_pieces_init(struct kept_pieces *pieces, size_t memory_bytes_max)
{
    *pieces = (struct kept_pieces){.memory_bytes_max = memory_bytes_max};
}

void kept_pieces_deinit(struct kept_pieces *pieces)
{
    while (pieces->first != NULL)
        drop_first(pieces, &pieces->aged_until);
}

static struct kept_piece *copy_of(const struct encoded_chunk *chunk, struct recorded_stream *stream)
{
    struct kept_piece *copy = malloc(sizeof(*copy) + chunk->header.stored_bytes);

    if (copy == NULL)
        return NULL;
    *copy = (struct kept_piece){.stream = stream, .chunk = *chunk};
    memcpy(copy->stored, chunk->stored, chunk->header.stored_bytes);
    copy->chunk.stored = copy->stored;
    return copy;
}

static void add_last(struct kept_pieces *pieces, struct kept_piece *piece)
{
    if (pieces->last == NULL)
        pieces->first = piece;
    else
        pieces->last->next = piece;
    pieces->last = piece;
    pieces->memory_bytes += memory_of(piece->chunk.header.stored_bytes);
    piece->stream->kept_count++;
}

int kept_pieces_add(struct kept_pieces *pieces, struct recorded_stream *stream, const struct stream_piece *piece)
{
    struct encoded_chunk chunk;
    struct kept_piece *copy;
    int result = chunk_encoder_run(stream->plan.encoder, piece, &chunk);
    size_t memory;

    if (result != 0)
        return result;
    memory = memory_of(chunk.header.stored_bytes);
    while (pieces->first != NULL && pieces->memory_bytes + memory > pieces->memory_bytes_max)
        drop_first(pieces, &pieces->crowded_until);
    copy = memory > pieces->memory_bytes_max ? NULL : copy_of(&chunk, stream);
    if (copy != NULL) {
        add_last(pieces, copy);
    } else {
        note_time(&pieces->crowded_until, piece->last_time);
        recorded_stream_leave_out(stream);
    }
    return 0;
}

void kept_pieces_age(struct kept_pieces *pieces, uint64_t oldest)
{
    while (pieces->first != NULL && pieces->first->chunk.header.last_time < oldest)
        drop_first(pieces, &pieces->aged_until);
}

int kept_pieces_write(struct kept_pieces *pieces, uint64_t from, uint64_t to)
{
    struct kept_piece **place, *piece, *previous = NULL;

    kept_pieces_age(pieces, from);
    for (place = &pieces->first; (piece = *place) != NULL;) {
        int result;

        if (piece->chunk.header.first_time > to) {
            previous = piece;
            place = &piece->next;
            continue;
        }
        result = recorded_stream_append(piece->stream, &piece->chunk);
        if (result != 0)
            return result;
        take_out(pieces, place, previous);
    }
    return 0;
}

void kept_pieces_forget(struct kept_pieces *pieces, const struct recorded_stream *stream)
{
    struct kept_piece **place = &pieces->first, *piece, *previous = NULL;

    while (stream->kept_count != 0 && (piece = *place) != NULL) {
        if (piece->stream == stream) {
            take_out(pieces, place, previous);
        } else {
            previous = piece;
            place = &piece->next;
        }
    }
}

/* SPDX-License-Identifier: MIT */
/* A queue: pieces come at its end with later and later times, and go from its front. */
#include "record/kept_pieces.h"

#include "record/recorded_stream.h"

#include <stdlib.h>
#include <string.h>

struct kept_piece {
    struct kept_piece *next;
    struct recorded_stream *stream;
    struct stream_piece piece; /* its bytes are below */
    uint8_t bytes[];
};

/* What malloc takes for itself. */
#define OVERHEAD_BYTES 16

static size_t memory_of(size_t size_bytes)
{
    return sizeof(struct kept_piece) + size_bytes + OVERHEAD_BYTES;
}

static void note_time(uint64_t *until, const struct stream_piece *piece)
{
    if (piece->last_time > *until)
        *until = piece->last_time;
}

/* Takes the one out that `place` leads to; NULL: there is none before it. */
static void take_out(struct kept_pieces *pieces, struct kept_piece **place, struct kept_piece *previous)
{
    struct kept_piece *piece = *place;

    *place = piece->next;
    if (piece->next == NULL)
        pieces->last = previous;
    pieces->memory_bytes -= memory_of(piece->piece.size_bytes);
    piece->stream->kept_count--;
    free(piece);
}

static void drop_first(struct kept_pieces *pieces, uint64_t *until)
{
    note_time(until, &pieces->first->piece);
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

void kept_pieces_add(struct kept_pieces *pieces, struct recorded_stream *stream, const struct stream_piece *piece)
{
    size_t memory = memory_of(piece->size_bytes);
    struct kept_piece *new;

    while (pieces->first != NULL && pieces->memory_bytes + memory > pieces->memory_bytes_max)
        drop_first(pieces, &pieces->crowded_until);
    new = memory > pieces->memory_bytes_max ? NULL : malloc(sizeof(*new) + piece->size_bytes);
    if (new == NULL) {
        note_time(&pieces->crowded_until, piece);
        recorded_stream_leave_out(stream);
        return;
    }
    *new = (struct kept_piece){.stream = stream, .piece = *piece};
    memcpy(new->bytes, piece->bytes, piece->size_bytes);
    new->piece.bytes = new->bytes;
    if (pieces->last == NULL)
        pieces->first = new;
    else
        pieces->last->next = new;
    pieces->last = new;
    pieces->memory_bytes += memory;
    stream->kept_count++;
}

void kept_pieces_age(struct kept_pieces *pieces, uint64_t oldest)
{
    while (pieces->first != NULL && pieces->first->piece.last_time < oldest)
        drop_first(pieces, &pieces->aged_until);
}

int kept_pieces_write(struct kept_pieces *pieces, uint64_t from, uint64_t to)
{
    struct kept_piece **place, *piece, *previous = NULL;

    kept_pieces_age(pieces, from);
    for (place = &pieces->first; (piece = *place) != NULL;) {
        int result;

        if (piece->piece.first_time > to) {
            previous = piece;
            place = &piece->next;
            continue;
        }
        result = recorded_stream_put(piece->stream, &piece->piece);
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

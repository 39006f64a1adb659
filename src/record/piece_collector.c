/* SPDX-License-Identifier: MIT */
#include "record/piece_collector.h"

#include "hosted/growing_array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A chunk of that size packs well, and its header is next to nothing. */
#define ENOUGH_BYTES (64u << 10)
/* Far more than come in the milliseconds for which pieces are gathered. */
#define MARKS_MAX 64u

void piece_collector_deinit(struct piece_collector *collector)
{
    free(collector->bytes);
    free(collector->marks);
    *collector = (struct piece_collector){.capacity = 0};
}

static int make_room(struct piece_collector *collector, size_t size_bytes)
{
    if (collector->marks == NULL)
        collector->marks = malloc(MARKS_MAX * sizeof(*collector->marks));
    if (collector->marks == NULL)
        return -ENOMEM;
    return ARRAY_RESERVE(collector->bytes, collector->capacity, size_bytes);
}

/* A time that lies before the last one is of a clock that is not: it is the last one, too. */
static void put_mark(struct piece_collector *collector, uint64_t time)
{
    struct stream_piece *piece = &collector->piece;
    uint64_t last = piece->mark_count == 0 ? piece->first_time : collector->marks[piece->mark_count - 1].time;

    collector->marks[piece->mark_count++] =
        (struct trace_mark){.time = time > last ? time : last, .offset = (uint32_t)piece->size_bytes};
}

static int gather(struct piece_collector *collector, const struct stream_piece *piece, int64_t now_ns)
{
    struct stream_piece *gathered = &collector->piece;
    int result = make_room(collector, gathered->size_bytes + piece->size_bytes);

    if (result != 0)
        return result;
    if (gathered->size_bytes == 0) {
        *gathered = *piece;
        gathered->size_bytes = gathered->record_count = 0;
        collector->began_ns = now_ns;
    } else if (piece->has_records && !piece->format.with_times) {
        put_mark(collector, piece->first_time);
    }
    memcpy(collector->bytes + gathered->size_bytes, piece->bytes, piece->size_bytes);
    gathered->size_bytes += piece->size_bytes;
    gathered->record_count += piece->record_count;
    gathered->last_time = piece->last_time;
    return 0;
}

int piece_collector_add(struct piece_collector *collector, const struct stream_piece *piece, int64_t now_ns,
                        const struct piece_taker *taker)
{
    int result = 0;

    /* Losses are told in front of a chunk. */
    if (piece->lost_before != 0 || piece->size_bytes >= ENOUGH_BYTES)
        result = piece_collector_flush(collector, taker);
    if (result != 0)
        return result;
    if (piece->size_bytes >= ENOUGH_BYTES)
        return taker->take(taker->context, piece);
    result = gather(collector, piece, now_ns);
    if (result != 0 || (collector->piece.size_bytes < ENOUGH_BYTES && collector->piece.mark_count < MARKS_MAX))
        return result;
    return piece_collector_flush(collector, taker);
}

int piece_collector_flush(struct piece_collector *collector, const struct piece_taker *taker)
{
    int result;

    if (collector->piece.size_bytes == 0)
        return 0;
    collector->piece.bytes = collector->bytes;
    collector->piece.marks = collector->marks;
    result = taker->take(taker->context, &collector->piece);
    if (result == 0)
        collector->piece.size_bytes = 0;
    return result;
}

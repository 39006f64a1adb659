/* SPDX-License-Identifier: MIT */
#include "record/chunk_collector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A chunk of that size packs well, and its header is next to nothing. */
#define ENOUGH_BYTES   (64u << 10)
#define CAPACITY_FIRST (4u << 10)
/* Far more than come in the milliseconds for which batches are gathered. */
#define MARKS_MAX 64u

void chunk_collector_deinit(struct chunk_collector *collector)
{
    free(collector->bytes);
    free(collector->marks);
    *collector = (struct chunk_collector){.capacity = 0};
}

static int make_room(struct chunk_collector *collector, size_t size_bytes)
{
    size_t capacity = collector->capacity == 0 ? CAPACITY_FIRST : collector->capacity;
    uint8_t *bytes;

    if (collector->marks == NULL)
        collector->marks = malloc(MARKS_MAX * sizeof(*collector->marks));
    if (collector->marks == NULL)
        return -ENOMEM;
    while (capacity < size_bytes)
        capacity *= 2;
    if (capacity == collector->capacity)
        return 0;
    bytes = realloc(collector->bytes, capacity);
    if (bytes == NULL)
        return -ENOMEM;
    collector->bytes = bytes;
    collector->capacity = capacity;
    return 0;
}

/* A time that lies before the last one is of a clock that is not: it is the last one, too. */
static void put_mark(struct chunk_collector *collector, uint64_t time)
{
    struct chunk_contents *contents = &collector->contents;
    uint64_t last = contents->mark_count == 0 ? contents->first_time : collector->marks[contents->mark_count - 1].time;

    collector->marks[contents->mark_count++] =
        (struct trace_mark){.time = time > last ? time : last, .offset = (uint32_t)contents->size_bytes};
}

static int gather(struct chunk_collector *collector, const struct chunk_contents *contents, int64_t now_ns)
{
    struct chunk_contents *gathered = &collector->contents;
    int result = make_room(collector, gathered->size_bytes + contents->size_bytes);

    if (result != 0)
        return result;
    if (gathered->size_bytes == 0) {
        *gathered = *contents;
        gathered->size_bytes = gathered->record_count = 0;
        collector->began_ns = now_ns;
    } else if (contents->has_records && !contents->format.with_times) {
        put_mark(collector, contents->first_time);
    }
    memcpy(collector->bytes + gathered->size_bytes, contents->bytes, contents->size_bytes);
    gathered->size_bytes += contents->size_bytes;
    gathered->record_count += contents->record_count;
    gathered->last_time = contents->last_time;
    return 0;
}

int chunk_collector_add(struct chunk_collector *collector, const struct chunk_contents *contents, int64_t now_ns,
                        const struct chunk_taker *taker)
{
    struct chunk_contents before;
    int result = 0;

    /* Losses are told in front of a chunk. */
    if (contents->lost_before != 0 || contents->size_bytes >= ENOUGH_BYTES)
        result = chunk_collector_flush(collector, taker);
    if (result != 0)
        return result;
    if (contents->size_bytes >= ENOUGH_BYTES)
        return taker->take(taker->context, contents);
    before = collector->contents;
    result = gather(collector, contents, now_ns);
    if (result != 0 || (collector->contents.size_bytes < ENOUGH_BYTES && collector->contents.mark_count < MARKS_MAX))
        return result;
    result = chunk_collector_flush(collector, taker);
    /* Who gets an error comes with the same again, or drops it: it is not to be here, too. */
    if (result != 0)
        collector->contents = before;
    return result;
}

int chunk_collector_flush(struct chunk_collector *collector, const struct chunk_taker *taker)
{
    int result;

    if (collector->contents.size_bytes == 0)
        return 0;
    collector->contents.bytes = collector->bytes;
    collector->contents.marks = collector->marks;
    result = taker->take(taker->context, &collector->contents);
    if (result == 0)
        collector->contents.size_bytes = 0;
    return result;
}

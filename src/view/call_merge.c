/* SPDX-License-Identifier: MIT */
/*
 * Each thread has a queue of what its next chunk tells; the one whose next thing is earliest is told first, found by a
 * heap. A thread that has not begun yet stands there with a time shortly before, and is not read until then.
 */
#include "view/call_merge.h"

#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "trace/stream_reader.h"
#include "view/call_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum merged_kind { TOLD_BEGIN, TOLD_END, TOLD_GAP };

struct queued {
    enum merged_kind told;
    struct view_call call; /* of a gap: end is its time, inner the bytes */
};

struct merged_lane {
    size_t thread; /* index */
    size_t place;  /* in the list */
    uint64_t time; /* of its next thing; nothing of it is earlier */
    struct call_reader *reader;
    bool is_over; /* all was read */
    struct queued *queue;
    size_t first;
    size_t count; /* behind the last one */
    size_t capacity;
};

struct merge {
    const struct view_trace *trace;
    const struct merged_receiver *receiver;
    struct merged_lane *lanes;
    struct merged_lane **heap; /* the earliest is the first */
    size_t heap_count;
    int result; /* the receiver's */
    int first_error;
    struct gait_error *err;
};

/* ---- what a thread tells ----------------------------------------------------------------------------------------- */

static int put(struct merged_lane *lane, enum merged_kind told, const struct view_call *call)
{
    if (ARRAY_RESERVE(lane->queue, lane->capacity, lane->count + 1) != 0)
        return -ENOMEM;
    lane->queue[lane->count++] = (struct queued){told, *call};
    return 0;
}

static int put_begin(void *context, const struct view_call *call)
{
    return put(context, TOLD_BEGIN, call);
}

static int put_end(void *context, const struct view_call *call)
{
    return put(context, TOLD_END, call);
}

static int put_gap(void *context, uint64_t time, uint64_t lost_bytes)
{
    return put(context, TOLD_GAP, &(struct view_call){.end = time, .inner = lost_bytes});
}

static uint64_t time_of(const struct queued *queued)
{
    return queued->told == TOLD_BEGIN ? queued->call.begin : queued->call.end;
}

/* A stream that cannot be read says more than one that ends too early. */
static void note_error(struct merge *merge, int result, const struct gait_error *why)
{
    if (merge->first_error == 0)
        merge->first_error = result;
    if (stream_error_outweighs(why, merge->err))
        *merge->err = *why;
}

static void end_lane(struct merge *merge, struct merged_lane *lane)
{
    struct gait_error why = {.code = 0};
    int result = lane->reader == NULL ? 0 : call_reader_end(lane->reader, &why);

    if (result != 0 || why.code != 0)
        note_error(merge, result, &why);
    lane->reader = NULL;
    free(lane->queue);
    lane->queue = NULL;
}

static bool begin_lane(struct merge *merge, struct merged_lane *lane)
{
    const struct call_receiver receiver = {put_begin, put_end, put_gap, lane, NULL};
    struct gait_error why;
    int result = call_reader_begin(&lane->reader, merge->trace, lane->thread, &receiver);

    if (result == 0)
        call_reader_skip(lane->reader, merge->receiver->skip_before);
    if (result == 0)
        return true;
    error_set(&why, result, "cannot show the calls of thread %u: there is no memory",
              merge->trace->threads[lane->thread].tid);
    note_error(merge, result, &why);
    return false;
}

/* Reads until there is something in the queue. False: there is nothing any more. */
static bool fill(struct merge *merge, struct merged_lane *lane)
{
    if (lane->first < lane->count)
        return true;
    if (lane->is_over || (lane->reader == NULL && !begin_lane(merge, lane)))
        return false;
    lane->first = lane->count = 0;
    while (lane->count == 0 && !lane->is_over)
        lane->is_over = !call_reader_step(lane->reader);
    return lane->count != 0;
}

/* ---- the heap ---------------------------------------------------------------------------------------------------- */

static bool is_before(const struct merged_lane *left, const struct merged_lane *right)
{
    return left->time != right->time ? left->time < right->time : left->place < right->place;
}

static void sink(struct merge *merge, size_t at)
{
    struct merged_lane **heap = merge->heap;

    for (;;) {
        size_t least = at;

        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < merge->heap_count; child++)
            if (is_before(heap[child], heap[least]))
                least = child;
        if (least == at)
            return;
        struct merged_lane *moved = heap[at];
        heap[at] = heap[least];
        heap[least] = moved;
        at = least;
    }
}

/* A chunk is begun a bit after the first thing in it, where a thread has just begun itself. */
#define EARLIER_NS 1e9

/* Its first chunk was begun about then, its stream when somebody looked. */
uint64_t call_merge_earliest(const struct view_trace *trace, size_t thread)
{
    uint64_t earlier = (uint64_t)(EARLIER_NS / view_clock_tick_ns(&trace->clock)), time;
    struct stream_reader reader;
    struct trace_chunk chunk;

    if (stream_reader_open(&reader, trace->files.folder, trace->threads[thread].pieces[0].path, NULL) != 0)
        return 0;
    time = reader.header.began.counter;
    if (pread(reader.fd, &chunk, sizeof(chunk), sizeof(reader.header)) == (ssize_t)sizeof(chunk) &&
        chunk.magic == TRACE_CHUNK_MAGIC && chunk.first_time < time)
        time = chunk.first_time;
    stream_reader_close(&reader);
    return time < earlier ? 0 : time - earlier;
}

static void fill_heap(struct merge *merge, const size_t *threads, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        merge->lanes[i] = (struct merged_lane){
            .thread = threads[i], .place = i, .time = call_merge_earliest(merge->trace, threads[i])};
        merge->heap[merge->heap_count++] = &merge->lanes[i];
    }
    for (size_t i = count; i > 0; i--)
        sink(merge, i - 1);
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */

static int emit(const struct merge *merge, const struct merged_lane *lane, const struct queued *queued)
{
    const struct merged_receiver *receiver = merge->receiver;

    if (queued->told == TOLD_BEGIN)
        return receiver->begin(receiver->context, lane->thread, &queued->call);
    if (queued->told == TOLD_END)
        return receiver->end(receiver->context, lane->thread, &queued->call);
    return receiver->gap == NULL ? 0
                                 : receiver->gap(receiver->context, lane->thread, queued->call.end, queued->call.inner);
}

/* Tells what the first of the heap has, as long as it is the earliest. */
static void advance(struct merge *merge)
{
    struct merged_lane *lane = merge->heap[0];

    if (!fill(merge, lane)) {
        end_lane(merge, lane);
        merge->heap[0] = merge->heap[--merge->heap_count];
        sink(merge, 0);
        return;
    }
    /* It may have been here for its beginning only. */
    if (time_of(&lane->queue[lane->first]) == lane->time)
        merge->result = emit(merge, lane, &lane->queue[lane->first++]);
    if (lane->first < lane->count)
        lane->time = time_of(&lane->queue[lane->first]);
    sink(merge, 0);
}

int call_merge_read(const struct view_trace *trace, const size_t *threads, size_t count,
                    const struct merged_receiver *receiver, struct gait_error *err)
{
    struct merge merge = {.trace = trace, .receiver = receiver, .err = err};

    merge.lanes = calloc(count + 1, sizeof(*merge.lanes));
    merge.heap = calloc(count + 1, sizeof(struct merged_lane *));
    if (merge.lanes != NULL && merge.heap != NULL) {
        fill_heap(&merge, threads, count);
        while (merge.heap_count > 0 && merge.result == 0)
            advance(&merge);
        for (size_t i = 0; i < merge.heap_count; i++)
            end_lane(&merge, merge.heap[i]);
    } else {
        merge.result =
            error_set(err, ENOMEM, "cannot put the calls of %zu threads into order: there is no memory", count);
    }
    free(merge.heap);
    free(merge.lanes);
    return merge.result != 0 ? merge.result : merge.first_error;
}

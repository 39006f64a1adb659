/* SPDX-License-Identifier: MIT */
/*
 * A thread's records are divided into turns, each of one goroutine. Of a turn only what it changes is kept: calls that
 * are left open in it, and which of those before it are over. Then the turns of each goroutine are gone through in the
 * order of time.
 */
#include "view/goroutine_stacks.h"

#include "hosted/growing_array.h"
#include "ring/event_record.h"
#include "trace/stream_reader.h"
#include "trace/trace_events.h"
#include "view/view_trace.h"

#include <errno.h>
#include <stdlib.h>

enum change_kind {
    CHANGE_ENTER, /* calls at its height and above are over, and this one begins */
    CHANGE_LEAVE, /* those above its height are over, and the next one, if it is of its function */
    CHANGE_CUT,   /* those at its height and above are over */
};

struct turn_change {
    enum change_kind kind;
    struct goroutine_call call;
};

struct goroutine_turn {
    uint64_t goroutine;
    size_t thread;
    uint64_t begin;
    uint64_t end;
    size_t first; /* of its changes */
    size_t count;
};

struct kept_arrival {
    size_t thread;
    uint64_t time;
    uint64_t left;
    size_t first; /* of its calls */
    size_t count;
};

struct goroutine_last {
    uint64_t goroutine;
    size_t thread;
};

struct goroutine_stacks {
    struct kept_arrival *arrivals; /* by thread and time */
    size_t arrival_count;
    size_t arrival_capacity;
    struct goroutine_call *calls;
    size_t call_count;
    size_t call_capacity;
    struct goroutine_last *lasts; /* by goroutine */
    size_t last_count;
    size_t last_capacity;
};

struct turn_reading {
    struct goroutine_turn *turns;
    size_t turn_count;
    size_t turn_capacity;
    struct turn_change *changes;
    size_t change_count;
    size_t change_capacity;
    size_t thread;
    bool has_turn; /* of that thread, which goes on */
    int result;
};

static uint32_t height_of(const struct goroutine_call *call)
{
    return (uint32_t)call->depth & ~EVENT_HEIGHT;
}

/* ---- turns ------------------------------------------------------------------------------------------------------- */

static struct turn_change *last_change(struct turn_reading *reading)
{
    const struct goroutine_turn *turn = &reading->turns[reading->turn_count - 1];

    return turn->count == 0 ? NULL : &reading->changes[reading->change_count - 1];
}

static void drop_change(struct turn_reading *reading)
{
    reading->turns[reading->turn_count - 1].count--;
    reading->change_count--;
}

static void add_change(struct turn_reading *reading, enum change_kind kind, const struct goroutine_call *call)
{
    if (ARRAY_RESERVE(reading->changes, reading->change_capacity, reading->change_count + 1) != 0) {
        reading->result = -ENOMEM;
        return;
    }
    reading->changes[reading->change_count++] = (struct turn_change){kind, *call};
    reading->turns[reading->turn_count - 1].count++;
}

/* What a call that is over has done to those of earlier turns. */
static void cut_earlier(struct turn_reading *reading, const struct goroutine_call *call)
{
    struct turn_change *last = last_change(reading);

    if (last != NULL && last->kind == CHANGE_ENTER)
        return;
    if (last == NULL || last->kind != CHANGE_CUT)
        add_change(reading, CHANGE_CUT, call);
    else if (height_of(call) < height_of(&last->call))
        last->call = *call;
}

/* Calls of the turn that are at a height, or above, are over. */
static void drop_over(struct turn_reading *reading, uint32_t height)
{
    struct turn_change *last;

    while ((last = last_change(reading)) != NULL && last->kind == CHANGE_ENTER && height_of(&last->call) >= height) {
        struct goroutine_call call = last->call;

        drop_change(reading);
        cut_earlier(reading, &call);
    }
}

static void leave(struct turn_reading *reading, const struct goroutine_call *call)
{
    struct turn_change *last;

    drop_over(reading, height_of(call) + 1);
    last = last_change(reading);
    if (last == NULL || last->kind != CHANGE_ENTER) {
        add_change(reading, CHANGE_LEAVE, call);
    } else if (last->call.function == call->function) {
        struct goroutine_call left = last->call;

        drop_change(reading);
        cut_earlier(reading, &left);
    }
}

/* Also if it is told again: other threads may have had it meanwhile. */
static void begin_turn(struct turn_reading *reading, uint64_t goroutine, uint64_t time)
{
    if (ARRAY_RESERVE(reading->turns, reading->turn_capacity, reading->turn_count + 1) != 0) {
        reading->result = -ENOMEM;
        return;
    }
    reading->turns[reading->turn_count++] = (struct goroutine_turn){
        .goroutine = goroutine, .thread = reading->thread, .begin = time, .end = time, .first = reading->change_count};
    reading->has_turn = true;
}

static void take(struct turn_reading *reading, const struct gait_event *event)
{
    const struct goroutine_call call = {event->location, event->time, event->depth};

    if (event->kind == GAIT_EVENT_GOROUTINE) {
        begin_turn(reading, event->target, event->time);
        return;
    }
    /* It may have gone on elsewhere long before this thread does with another one. */
    if (reading->has_turn)
        reading->turns[reading->turn_count - 1].end = event->time;
    if (!reading->has_turn || event->depth >= 0) {
        return;
    } else if (event->kind == GAIT_EVENT_ENTER) {
        drop_over(reading, height_of(&call));
        add_change(reading, CHANGE_ENTER, &call);
    } else if (event->kind == GAIT_EVENT_LEAVE) {
        leave(reading, &call);
    }
}

static int take_events(void *context, const struct gait_event *events, size_t count, const struct trace_span *span)
{
    struct turn_reading *reading = context;

    (void)span;
    for (size_t i = 0; i < count && reading->result == 0; i++)
        take(reading, &events[i]);
    return reading->result;
}

/* All calls of the goroutine have ended there, as far as anybody knows. */
static void lose_events(void *context, uint64_t bytes)
{
    struct turn_reading *reading = context;

    (void)bytes;
    if (reading->has_turn) {
        drop_over(reading, 0);
        add_change(reading, CHANGE_CUT, &(struct goroutine_call){.depth = (int32_t)EVENT_HEIGHT});
    }
    reading->has_turn = false;
}

static void skip_events(void *context)
{
    lose_events(context, 0);
}

static bool tells_of_goroutines(const struct view_trace *trace, const struct view_thread *thread)
{
    struct stream_reader reader;
    bool tells;

    if (thread->piece_count == 0 || stream_reader_open(&reader, trace->files.folder, thread->pieces[0].path, NULL) != 0)
        return false;
    tells = reader.header.kind == TRACE_STREAM_INDEX && (reader.header.events & GAIT_EVENT_GOROUTINE) != 0;
    stream_reader_close(&reader);
    return tells;
}

static void read_turns(struct turn_reading *reading, const struct view_trace *trace, size_t process)
{
    const struct trace_events_receiver receiver = {take_events, lose_events, skip_events, reading};
    struct trace_events_end end;

    for (size_t i = 0; i < trace->thread_count && reading->result == 0; i++) {
        const struct view_thread *thread = &trace->threads[i];

        if (thread->process != process || !tells_of_goroutines(trace, thread))
            continue;
        reading->thread = i;
        /* What cannot be read is told by those who show it. */
        (void)!trace_events_read(trace->files.folder, thread->pieces, thread->piece_count,
                                 &trace->processes[process].blocks, &receiver, &end, NULL);
        reading->has_turn = false;
    }
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

/* Of one goroutine. */
struct turn_stack {
    struct goroutine_call *calls;
    size_t count;
    size_t capacity;
};

static void cut(struct turn_stack *stack, uint32_t height)
{
    while (stack->count != 0 && height_of(&stack->calls[stack->count - 1]) >= height)
        stack->count--;
}

static int apply(struct turn_stack *stack, const struct turn_change *change)
{
    uint32_t height = height_of(&change->call);

    cut(stack, change->kind == CHANGE_LEAVE ? height + 1 : height);
    if (change->kind == CHANGE_LEAVE && stack->count != 0 &&
        stack->calls[stack->count - 1].function == change->call.function)
        stack->count--;
    if (change->kind != CHANGE_ENTER)
        return 0;
    if (ARRAY_RESERVE(stack->calls, stack->capacity, stack->count + 1) != 0)
        return -ENOMEM;
    stack->calls[stack->count++] = change->call;
    return 0;
}

static int keep_arrival(struct goroutine_stacks *stacks, const struct turn_stack *stack,
                        const struct goroutine_turn *turn, uint64_t left)
{
    if (ARRAY_RESERVE(stacks->arrivals, stacks->arrival_capacity, stacks->arrival_count + 1) != 0 ||
        ARRAY_RESERVE(stacks->calls, stacks->call_capacity, stacks->call_count + stack->count + 1) != 0)
        return -ENOMEM;
    stacks->arrivals[stacks->arrival_count++] =
        (struct kept_arrival){turn->thread, turn->begin, left, stacks->call_count, stack->count};
    for (size_t i = 0; i < stack->count; i++)
        stacks->calls[stacks->call_count++] = stack->calls[i];
    return 0;
}

static int compare_turns(const void *left_turn, const void *right_turn)
{
    const struct goroutine_turn *left = left_turn, *right = right_turn;

    if (left->goroutine != right->goroutine)
        return left->goroutine < right->goroutine ? -1 : 1;
    if (left->begin != right->begin)
        return left->begin < right->begin ? -1 : 1;
    return left->thread < right->thread ? -1 : left->thread > right->thread;
}

static int compare_arrivals(const void *left_arrival, const void *right_arrival)
{
    const struct kept_arrival *left = left_arrival, *right = right_arrival;

    if (left->thread != right->thread)
        return left->thread < right->thread ? -1 : 1;
    return left->time < right->time ? -1 : left->time > right->time;
}

static int compare_lasts(const void *left_last, const void *right_last)
{
    const struct goroutine_last *left = left_last, *right = right_last;

    return left->goroutine < right->goroutine ? -1 : left->goroutine > right->goroutine;
}

static int keep_last(struct goroutine_stacks *stacks, const struct goroutine_turn *turn)
{
    if (ARRAY_RESERVE(stacks->lasts, stacks->last_capacity, stacks->last_count + 1) != 0)
        return -ENOMEM;
    stacks->lasts[stacks->last_count++] = (struct goroutine_last){turn->goroutine, turn->thread};
    return 0;
}

static int go_through(struct goroutine_stacks *stacks, const struct turn_reading *reading)
{
    struct turn_stack stack = {.count = 0};
    int result = 0;

    for (size_t i = 0; i < reading->turn_count && result == 0; i++) {
        const struct goroutine_turn *turn = &reading->turns[i];
        bool is_first = i == 0 || turn[-1].goroutine != turn->goroutine;

        if (is_first)
            stack.count = 0;
        else if (turn[-1].thread != turn->thread)
            result = keep_arrival(stacks, &stack, turn, turn[-1].end);
        for (size_t at = turn->first; at < turn->first + turn->count && result == 0; at++)
            result = apply(&stack, &reading->changes[at]);
        if (result == 0 && (i + 1 == reading->turn_count || turn[1].goroutine != turn->goroutine))
            result = keep_last(stacks, turn);
    }
    free(stack.calls);
    return result;
}

int goroutine_stacks_read(struct goroutine_stacks **stacks_out, const struct view_trace *trace, size_t process)
{
    struct turn_reading reading = {.result = 0};
    struct goroutine_stacks *stacks = NULL;
    int result;

    read_turns(&reading, trace, process);
    result = reading.result;
    if (result == 0 && reading.turn_count != 0) {
        qsort(reading.turns, reading.turn_count, sizeof(reading.turns[0]), compare_turns);
        stacks = calloc(1, sizeof(*stacks));
        result = stacks == NULL ? -ENOMEM : go_through(stacks, &reading);
        if (result == 0 && stacks->arrival_count != 0)
            qsort(stacks->arrivals, stacks->arrival_count, sizeof(stacks->arrivals[0]), compare_arrivals);
    }
    free(reading.turns);
    free(reading.changes);
    if (result != 0)
        goroutine_stacks_destroy(stacks);
    else
        *stacks_out = stacks;
    return result;
}

void goroutine_stacks_destroy(struct goroutine_stacks *stacks)
{
    if (stacks == NULL)
        return;
    free(stacks->arrivals);
    free(stacks->calls);
    free(stacks->lasts);
    free(stacks);
}

bool goroutine_stacks_arrive(const struct goroutine_stacks *stacks, size_t thread, uint64_t time,
                             struct goroutine_arrival *arrival_out)
{
    const struct kept_arrival wanted = {.thread = thread, .time = time}, *found;

    if (stacks == NULL || stacks->arrival_count == 0)
        return false;
    found = bsearch(&wanted, stacks->arrivals, stacks->arrival_count, sizeof(wanted), compare_arrivals);
    if (found == NULL)
        return false;
    *arrival_out = (struct goroutine_arrival){&stacks->calls[found->first], found->count, found->left};
    return true;
}

bool goroutine_stacks_ends_in(const struct goroutine_stacks *stacks, uint64_t goroutine, size_t thread)
{
    const struct goroutine_last wanted = {.goroutine = goroutine}, *found;

    if (stacks == NULL)
        return true;
    found = bsearch(&wanted, stacks->lasts, stacks->last_count, sizeof(wanted), compare_lasts);
    return found == NULL || found->thread == thread;
}

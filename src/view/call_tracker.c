/* SPDX-License-Identifier: MIT */
/*
 * Depths in events are what joins a beginning and its end: whatever is open at the same depth, or deeper, when a call
 * begins, has ended before, told or not. A return that goes behind the instruction that called is the call's; others
 * are jumps in disguise. A call that is suspended leaves the open ones, and waits among the parked ones, with what is
 * known of it, until a resumed one has its stack and its function.
 */
#include "view/call_tracker.h"

#include "gait/instruction.h"
#include "hosted/growing_array.h"
#include "ring/event_record.h"
#include "trace/trace_events.h"
#include "view/goroutine_stacks.h"

#include <errno.h>
#include <stdlib.h>

void call_tracker_init(struct call_tracker *tracker, const struct call_receiver *receiver)
{
    *tracker = (struct call_tracker){.receiver = *receiver};
}

void call_tracker_deinit(struct call_tracker *tracker)
{
    for (size_t i = 0; i < tracker->goroutine_count; i++)
        free(tracker->goroutines[i].calls);
    if (tracker->goroutines != NULL)
        hash_map_deinit(&tracker->goroutine_numbers);
    free(tracker->goroutines);
    free(tracker->open);
    free(tracker->parked);
    tracker->goroutines = NULL;
    tracker->goroutine_count = tracker->goroutine_capacity = 0;
    tracker->open = NULL;
    tracker->parked = NULL;
    tracker->open_count = tracker->open_capacity = 0;
    tracker->parked_count = tracker->parked_capacity = 0;
}

static struct tracked_call *innermost(const struct call_tracker *tracker)
{
    return tracker->open_count == 0 ? NULL : &tracker->open[tracker->open_count - 1];
}

static void end_innermost(struct call_tracker *tracker, uint64_t time, uint32_t flags)
{
    struct view_call call = tracker->open[--tracker->open_count].call;
    struct tracked_call *caller = innermost(tracker);

    call.end = time;
    call.flags |= flags;
    if (caller != NULL)
        caller->call.inner += flags & CALL_ENTRY_ONLY ? call.inner : call.end - call.begin;
    if (call.inner > view_call_part_ticks(&call))
        call.inner = view_call_part_ticks(&call);
    if (tracker->result == 0)
        tracker->result = tracker->receiver.end(tracker->receiver.context, &call);
}

/* ---- what ends because of others --------------------------------------------------------------------------------- */

/* Of a function of Go: depths are heights of a stack. */
static bool is_high(int32_t depth)
{
    return depth < 0;
}

static uint32_t height_of(int32_t depth)
{
    return (uint32_t)depth & ~EVENT_HEIGHT;
}

static void end_deeper(struct call_tracker *tracker, int32_t depth, uint64_t time)
{
    while (tracker->open_count != 0 &&
           (is_high(depth) ? is_high(innermost(tracker)->event_depth) &&
                                 height_of(innermost(tracker)->event_depth) >= height_of(depth)
                           : innermost(tracker)->event_depth >= depth))
        end_innermost(tracker, time, CALL_NO_RETURN);
}

static void begin(struct call_tracker *tracker, const struct view_call *call, int32_t depth)
{
    struct tracked_call *tracked;

    end_deeper(tracker, depth, call->begin);
    if (tracker->result == 0)
        tracker->result = ARRAY_RESERVE(tracker->open, tracker->open_capacity, tracker->open_count + 1);
    if (tracker->result != 0)
        return;
    tracked = &tracker->open[tracker->open_count];
    *tracked = (struct tracked_call){*call, depth};
    tracked->call.depth = (uint32_t)tracker->open_count++;
    if (!(call->flags & CALL_RESUMED))
        tracked->call.first_begin = call->begin;
    tracker->result = tracker->receiver.begin(tracker->receiver.context, &tracked->call);
}

/*
 * The stack is not higher than when the call began, and higher than when any began that it made. What was not told to
 * end within it, as calls that a panic left, has ended.
 */
static void leave_high(struct call_tracker *tracker, const struct gait_event *event, uint64_t time)
{
    size_t own = tracker->open_count;

    while (own != 0 && (!is_high(tracker->open[own - 1].event_depth) ||
                        height_of(tracker->open[own - 1].event_depth) > height_of(event->depth)))
        own--;
    while (tracker->open_count > own)
        end_innermost(tracker, time, is_high(innermost(tracker)->event_depth) ? CALL_UNWOUND : CALL_NO_RETURN);
    if (own != 0 && tracker->open[own - 1].call.function == event->location)
        end_innermost(tracker, time, 0);
}

/* The depth is how many others the thread is in; of both, beginning and end. */
static void leave_hooked(struct call_tracker *tracker, const struct gait_event *event, uint64_t time)
{
    const struct tracked_call *call;

    if (is_high(event->depth)) {
        leave_high(tracker, event, time);
        return;
    }
    end_deeper(tracker, event->depth + 1, time);
    call = innermost(tracker);
    if (call == NULL || call->event_depth != event->depth)
        return;
    if (call->call.function != event->location)
        end_innermost(tracker, time, CALL_NO_RETURN);
    else if (event->is_entry_only)
        end_innermost(tracker, call->call.begin, CALL_ENTRY_ONLY);
    else
        end_innermost(tracker, time, event->is_unwound ? CALL_UNWOUND : 0);
}

/* ---- several stacks ---------------------------------------------------------------------------------------------- */

/* Ends the innermost call as a part of itself, which waits for the next one. */
static void park_innermost(struct call_tracker *tracker, uint64_t stack, uint64_t time)
{
    struct view_call call = innermost(tracker)->call;

    call.end = time;
    if (tracker->result == 0)
        tracker->result = ARRAY_RESERVE(tracker->parked, tracker->parked_capacity, tracker->parked_count + 1);
    if (tracker->result == 0)
        tracker->parked[tracker->parked_count++] = (struct parked_call){call, stack};
    end_innermost(tracker, time, CALL_SUSPENDED);
}

static void suspend_hooked(struct call_tracker *tracker, const struct gait_event *event, uint64_t time)
{
    const struct tracked_call *call;

    end_deeper(tracker, event->depth + 1, time);
    call = innermost(tracker);
    if (call != NULL && call->event_depth == event->depth && call->call.function == event->location)
        park_innermost(tracker, event->target, time);
}

/* The one that is parked last is the outermost, which is resumed first. False: its beginning was not seen. */
static bool unpark(struct call_tracker *tracker, const struct gait_event *event, struct view_call *call_out)
{
    for (size_t i = tracker->parked_count; i-- > 0;) {
        const struct parked_call *parked = &tracker->parked[i];

        if (parked->stack != event->target || parked->call.function != event->location)
            continue;
        *call_out = parked->call;
        tracker->parked_count--;
        for (; i < tracker->parked_count; i++)
            tracker->parked[i] = tracker->parked[i + 1];
        return true;
    }
    return false;
}

static void resume_hooked(struct call_tracker *tracker, const struct gait_event *event, uint64_t time)
{
    struct view_call call = {.function = event->location, .begin = time, .flags = CALL_RESUMED}, before;

    if (unpark(tracker, event, &before)) {
        call.first_begin = before.first_begin;
        call.earlier = view_call_ticks(&before);
        call.earlier_inner = before.earlier_inner + before.inner;
    }
    begin(tracker, &call, event->depth);
}

/* ---- goroutines -------------------------------------------------------------------------------------------------- */

void call_tracker_know_goroutines(struct call_tracker *tracker, const struct goroutine_stacks *stacks, size_t thread)
{
    tracker->goroutine_stacks = stacks;
    tracker->thread = thread;
}

/* That of the goroutine, made if need be. NULL: there is no memory. */
static struct parked_goroutine *parked_obtain(struct call_tracker *tracker, uint64_t goroutine)
{
    uint64_t number;

    if (tracker->goroutines == NULL && hash_map_init(&tracker->goroutine_numbers, 64) != 0)
        return NULL;
    if (tracker->goroutines != NULL && hash_map_lookup(&tracker->goroutine_numbers, goroutine, &number))
        return &tracker->goroutines[number];
    if (ARRAY_RESERVE(tracker->goroutines, tracker->goroutine_capacity, tracker->goroutine_count + 1) != 0) {
        if (tracker->goroutines == NULL)
            hash_map_deinit(&tracker->goroutine_numbers);
        return NULL;
    }
    if (hash_map_set(&tracker->goroutine_numbers, goroutine, tracker->goroutine_count) != 0)
        return NULL;
    /* Nobody else looks. */
    hash_map_reclaim(&tracker->goroutine_numbers);
    tracker->goroutines[tracker->goroutine_count] = (struct parked_goroutine){.goroutine = goroutine};
    return &tracker->goroutines[tracker->goroutine_count++];
}

/* Its calls go on when the thread, or another one, does with it; until then they wait. */
static void park_goroutine(struct call_tracker *tracker, uint64_t time)
{
    struct parked_goroutine *parked = parked_obtain(tracker, tracker->goroutine);

    if (parked == NULL || ARRAY_RESERVE(parked->calls, parked->capacity, tracker->open_count) != 0) {
        tracker->result = -ENOMEM;
        return;
    }
    for (parked->count = 0; parked->count < tracker->open_count; parked->count++)
        parked->calls[parked->count] = tracker->open[parked->count];
    parked->left = time;
    while (tracker->open_count != 0)
        end_innermost(tracker, time, CALL_SUSPENDED);
}

/* A call goes on, whose innermost one has the time that all of them waited. */
static void resume_call(struct call_tracker *tracker, const struct tracked_call *before, uint64_t waited, uint64_t time)
{
    struct view_call call = {
        .function = before->call.function,
        .site = before->call.site,
        .begin = time,
        .flags = CALL_RESUMED,
        .first_begin = before->call.first_begin,
        .earlier = before->call.first_begin == 0 ? 0 : time - before->call.first_begin,
        .waited = waited,
    };
    struct tracked_call *caller = innermost(tracker);

    if (caller != NULL)
        caller->call.inner += waited;
    if (tracker->result == 0)
        tracker->result = ARRAY_RESERVE(tracker->open, tracker->open_capacity, tracker->open_count + 1);
    if (tracker->result != 0)
        return;
    call.depth = (uint32_t)tracker->open_count;
    tracker->open[tracker->open_count++] = (struct tracked_call){call, before->event_depth};
    tracker->result = tracker->receiver.begin(tracker->receiver.context, &call);
}

static void resume_own(struct call_tracker *tracker, uint64_t time)
{
    struct parked_goroutine *parked;
    uint64_t number;

    if (tracker->goroutines == NULL || !hash_map_lookup(&tracker->goroutine_numbers, tracker->goroutine, &number))
        return;
    parked = &tracker->goroutines[number];
    for (size_t i = 0; i < parked->count && tracker->result == 0; i++)
        resume_call(tracker, &parked->calls[i], time - parked->left, time);
    parked->count = 0;
}

/* Another thread had it meanwhile. */
static void resume_others(struct call_tracker *tracker, const struct goroutine_arrival *arrival, uint64_t time)
{
    uint64_t waited = time > arrival->left ? time - arrival->left : 0, number;

    for (size_t i = 0; i < arrival->count && tracker->result == 0; i++) {
        const struct tracked_call before = {
            .call = {.function = arrival->calls[i].function, .first_begin = arrival->calls[i].begin},
            .event_depth = arrival->calls[i].depth,
        };

        resume_call(tracker, &before, waited, time);
    }
    if (tracker->goroutines != NULL && hash_map_lookup(&tracker->goroutine_numbers, tracker->goroutine, &number))
        tracker->goroutines[number].count = 0;
}

static void change_goroutine(struct call_tracker *tracker, const struct gait_event *event, uint64_t time)
{
    struct goroutine_arrival arrival;
    bool has_arrived = goroutine_stacks_arrive(tracker->goroutine_stacks, tracker->thread, event->time, &arrival);

    /* It is told again in each buffer, and when it comes back. */
    if (tracker->goroutine == event->target && !has_arrived)
        return;
    /* When the thread left it nobody knows: it may have gone on elsewhere since. */
    if (tracker->open_count != 0)
        park_goroutine(tracker, tracker->previous_time);
    tracker->goroutine = event->target;
    if (has_arrived)
        resume_others(tracker, &arrival, time);
    else
        resume_own(tracker, time);
}

static void tell_never_resumed(struct call_tracker *tracker)
{
    const struct call_receiver *receiver = &tracker->receiver;

    for (size_t i = 0; i < tracker->goroutine_count && receiver->never_resumed != NULL; i++) {
        const struct parked_goroutine *parked = &tracker->goroutines[i];

        if (!goroutine_stacks_ends_in(tracker->goroutine_stacks, parked->goroutine, tracker->thread))
            continue;
        for (size_t call = 0; call < parked->count && tracker->result == 0; call++) {
            struct view_call told = parked->calls[call].call;

            told.end = parked->left;
            tracker->result = receiver->never_resumed(receiver->context, &told);
        }
    }
    for (size_t i = 0; i < tracker->goroutine_count; i++)
        tracker->goroutines[i].count = 0;
}

/* ---- returns ----------------------------------------------------------------------------------------------------- */

static uint64_t distance(uint64_t left, uint64_t right)
{
    return left < right ? right - left : left - right;
}

/*
 * Whether a return is one of the function that made the call: it is nearer to that than the function that was called,
 * which does not begin in between.
 */
static bool is_of_caller(const struct view_call *call, uint64_t location)
{
    uint64_t low = call->site < location ? call->site : location, high = call->site < location ? location : call->site;

    return call->site != 0 && location != 0 && (call->function <= low || call->function > high) &&
           distance(call->site, location) < distance(call->function, location);
}

/*
 * The depth is that of who returns: one more than of its caller, which the call told. Where the caller returns to code
 * that was left out, as main does, nothing else says that what it called there, too, has returned.
 */
static void take_return(struct call_tracker *tracker, const struct gait_event *event, uint64_t time)
{
    const struct tracked_call *call;

    end_deeper(tracker, event->depth, time);
    call = innermost(tracker);
    if (call == NULL || call->event_depth != event->depth - 1)
        return;
    if (event->target - call->call.site - 1 < GAIT_INSTRUCTION_BYTES_MAX)
        end_innermost(tracker, time, 0);
    else if (is_of_caller(&call->call, event->location))
        end_innermost(tracker, time, CALL_NO_RETURN);
}

static void take(struct call_tracker *tracker, const struct gait_event *event, uint64_t time, uint32_t flags)
{
    switch (event->kind) {
    case GAIT_EVENT_ENTER:
        begin(tracker, &(struct view_call){.function = event->location, .begin = time, .flags = flags}, event->depth);
        break;
    case GAIT_EVENT_LEAVE:
        leave_hooked(tracker, event, time);
        break;
    case GAIT_EVENT_SUSPEND:
        suspend_hooked(tracker, event, time);
        break;
    case GAIT_EVENT_RESUME:
        resume_hooked(tracker, event, time);
        break;
    case GAIT_EVENT_GOROUTINE:
        change_goroutine(tracker, event, time);
        break;
    case GAIT_EVENT_CALL:
        begin(tracker,
              &(struct view_call){.function = event->target, .site = event->location, .begin = time, .flags = flags},
              event->depth);
        break;
    case GAIT_EVENT_RET:
        take_return(tracker, event, time);
        break;
    default:
        break;
    }
}

int call_tracker_take(struct call_tracker *tracker, const struct gait_event *events, size_t count,
                      const struct trace_span *span)
{
    uint32_t flags = span->is_interpolated ? CALL_GUESSED : 0;
    /* As trace_span_time has it, with one division for all of them. */
    uint64_t step = span->is_interpolated && count != 0 ? (span->last_guess - span->first_guess) / count : 0;

    for (size_t i = 0; i < count && tracker->result == 0; i++) {
        uint64_t time = span->is_interpolated ? span->first_guess + step * i : events[i].time;

        tracker->previous_time = tracker->last_time;
        if (time > tracker->last_time)
            tracker->last_time = time;
        take(tracker, &events[i], tracker->last_time, flags);
    }
    return tracker->result;
}

static void cut(struct call_tracker *tracker)
{
    while (tracker->open_count != 0)
        end_innermost(tracker, tracker->last_time, CALL_CUT);
}

void call_tracker_lose(struct call_tracker *tracker, uint64_t bytes)
{
    cut(tracker);
    /* It is told again. */
    tracker->goroutine = 0;
    if (tracker->result == 0 && tracker->receiver.gap != NULL)
        tracker->result = tracker->receiver.gap(tracker->receiver.context, tracker->last_time, bytes);
}

void call_tracker_finish(struct call_tracker *tracker)
{
    const struct call_receiver *receiver = &tracker->receiver;

    if (tracker->goroutine != 0 && tracker->open_count != 0 &&
        !goroutine_stacks_ends_in(tracker->goroutine_stacks, tracker->goroutine, tracker->thread))
        park_goroutine(tracker, tracker->last_time);
    cut(tracker);
    for (size_t i = 0; i < tracker->parked_count && tracker->result == 0 && receiver->never_resumed != NULL; i++)
        tracker->result = receiver->never_resumed(receiver->context, &tracker->parked[i].call);
    tracker->parked_count = 0;
    tell_never_resumed(tracker);
}

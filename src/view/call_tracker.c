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
#include "trace/trace_events.h"

#include <stdlib.h>

void call_tracker_init(struct call_tracker *tracker, const struct call_receiver *receiver)
{
    *tracker = (struct call_tracker){.receiver = *receiver};
}

void call_tracker_deinit(struct call_tracker *tracker)
{
    free(tracker->open);
    free(tracker->parked);
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
    if (call.inner > call.end - call.begin)
        call.inner = call.end - call.begin;
    if (tracker->result == 0)
        tracker->result = tracker->receiver.end(tracker->receiver.context, &call);
}

static void end_deeper(struct call_tracker *tracker, int32_t depth, uint64_t time)
{
    while (tracker->open_count != 0 && innermost(tracker)->event_depth >= depth)
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

/* The depth is how many others the thread is in; of both, beginning and end. */
static void leave_hooked(struct call_tracker *tracker, const struct gait_event *event, uint64_t time)
{
    const struct tracked_call *call;

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
    if (tracker->result == 0 && tracker->receiver.gap != NULL)
        tracker->result = tracker->receiver.gap(tracker->receiver.context, tracker->last_time, bytes);
}

void call_tracker_finish(struct call_tracker *tracker)
{
    const struct call_receiver *receiver = &tracker->receiver;

    cut(tracker);
    for (size_t i = 0; i < tracker->parked_count && tracker->result == 0 && receiver->never_resumed != NULL; i++)
        tracker->result = receiver->never_resumed(receiver->context, &tracker->parked[i].call);
    tracker->parked_count = 0;
}

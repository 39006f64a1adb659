/* SPDX-License-Identifier: MIT */
/*
 * Calls that have not ended are a stack by depth. An event at a depth tells that calls there, or deeper, are over: if
 * nothing said so before, when that was is not known.
 */
#include "trace/hook_times.h"

#include "trace/call_counts.h"

#include <errno.h>
#include <stdlib.h>

#define OPEN_AT_FIRST 256

void hook_times_init(struct hook_times *times, struct call_counts *calls)
{
    *times = (struct hook_times){.calls = calls};
}

void hook_times_deinit(struct hook_times *times)
{
    free(times->open);
    *times = (struct hook_times){.open_count = 0};
}

static struct timed_call *pop(struct hook_times *times)
{
    struct timed_call *call = &times->open[--times->open_count];

    times->calls->counts[call->count].open_count--;
    return call;
}

static void end_call(struct hook_times *times, uint64_t time)
{
    const struct timed_call *call = pop(times);
    struct call_count *count = &times->calls->counts[call->count];
    uint64_t took = time > call->entered ? time - call->entered : 0;

    count->ended++;
    count->self_time += took > call->inner_time ? took - call->inner_time : 0;
    if (count->open_count == 0)
        count->total_time += took;
    if (took > count->longest_time)
        count->longest_time = took;
    if (times->open_count != 0)
        times->open[times->open_count - 1].inner_time += took;
}

/* Forgets calls that are at that depth or deeper. */
static void leave_behind(struct hook_times *times, int32_t depth)
{
    while (times->open_count != 0 && times->open[times->open_count - 1].depth >= depth)
        pop(times);
}

static int make_room(struct hook_times *times)
{
    size_t capacity = times->open_capacity == 0 ? OPEN_AT_FIRST : 2 * times->open_capacity;
    struct timed_call *grown;

    if (times->open_count < times->open_capacity)
        return 0;
    grown = realloc(times->open, capacity * sizeof(*grown));
    if (grown == NULL)
        return -ENOMEM;
    times->open = grown;
    times->open_capacity = capacity;
    return 0;
}

static int enter(struct hook_times *times, const struct gait_event *event)
{
    struct timed_call call = {.depth = event->depth, .entered = event->time};
    int result = call_counts_find(times->calls, event->location, event->time, event->time, &call.count);

    leave_behind(times, event->depth);
    if (result == 0)
        result = make_room(times);
    if (result != 0)
        return result;
    times->calls->counts[call.count].calls++;
    times->calls->counts[call.count].open_count++;
    times->open[times->open_count++] = call;
    return 0;
}

static void leave(struct hook_times *times, const struct gait_event *event)
{
    const struct timed_call *call;

    leave_behind(times, event->depth + 1);
    if (times->open_count == 0)
        return;
    call = &times->open[times->open_count - 1];
    if (call->depth != event->depth)
        return;
    if (times->calls->counts[call->count].address == event->location)
        end_call(times, event->time);
    else
        pop(times);
}

int hook_times_take(struct hook_times *times, const struct gait_event *event)
{
    int result = 0;

    if (event->kind == GAIT_EVENT_ENTER)
        result = enter(times, event);
    else if (event->kind == GAIT_EVENT_LEAVE)
        leave(times, event);
    else
        return 0;
    times->last_time = event->time;
    return result;
}

void hook_times_forget(struct hook_times *times)
{
    while (times->open_count != 0)
        pop(times);
}

void hook_times_end_thread(struct hook_times *times)
{
    while (times->open_count != 0)
        end_call(times, times->last_time);
}

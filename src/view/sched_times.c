/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "view/sched_times.h"

#include "hosted/growing_array.h"
#include "view/kernel_sched.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Threads that have ended are told so, not as waiting. */
#define STATES_ENDED 0x30u

struct times_reading {
    struct sched_times *times;
    const struct kernel_sources *sources;
    int result;
};

/* NULL: there is no memory. */
static struct sched_thread *thread_of(struct times_reading *reading, const struct kernel_sched_thread *told,
                                      uint64_t time)
{
    struct sched_times *times = reading->times;
    struct sched_thread *thread;
    uint64_t number;

    if (hash_map_lookup(&times->numbers, told->tid, &number))
        return &times->threads[number];
    if (ARRAY_RESERVE_NEXT(times->threads, times->count) != 0 ||
        hash_map_set(&times->numbers, told->tid, times->count) != 0) {
        reading->result = -ENOMEM;
        return NULL;
    }
    hash_map_reclaim(&times->numbers);
    thread = &times->threads[times->count++];
    *thread = (struct sched_thread){.tid = told->tid};
    snprintf(thread->name, sizeof(thread->name), "%s", kernel_sources_thread(reading->sources, told->tid, time));
    if (thread->name[0] == '\0')
        snprintf(thread->name, sizeof(thread->name), "%s", told->name);
    return thread;
}

static void go_on(struct sched_thread *thread, enum sched_doing doing, uint64_t time)
{
    if (thread->doing != SCHED_UNKNOWN && time > thread->since)
        thread->ticks[thread->doing] += time - thread->since;
    thread->doing = doing;
    thread->since = time;
}

static void take_switch(struct times_reading *reading, const struct kernel_sched_change *change, uint64_t time)
{
    struct sched_thread *from = change->from.tid == 0 ? NULL : thread_of(reading, &change->from, time);

    if (from != NULL) {
        bool is_pushed = change->state == KERNEL_SCHED_RUNNABLE;

        go_on(from, is_pushed ? SCHED_WAITING : change->state & STATES_ENDED ? SCHED_UNKNOWN : SCHED_BLOCKED, time);
        from->pushed_count += is_pushed;
    }
    /* The list may have moved. */
    struct sched_thread *to = change->to.tid == 0 ? NULL : thread_of(reading, &change->to, time);

    if (to != NULL) {
        go_on(to, SCHED_RUNNING, time);
        to->run_count++;
    }
}

static void take_waking(struct times_reading *reading, const struct kernel_sched_change *change, uint64_t time)
{
    uint64_t number;

    /* Others than those that are watched are woken, too: nothing is known of them but that. */
    if (!hash_map_lookup(&reading->times->numbers, change->from.tid, &number))
        return;
    if (reading->times->threads[number].doing == SCHED_BLOCKED)
        go_on(&reading->times->threads[number], SCHED_WAITING, time);
}

static int read_events(struct times_reading *reading, struct kernel_events *events, struct kernel_sched *sched)
{
    struct kernel_sched_change change;
    struct kernel_event event;

    while (reading->result == 0 && kernel_events_next(events, &event)) {
        const struct kernel_source *source = kernel_sources_find(reading->sources, event.source);

        if (source == NULL)
            continue;
        reading->times->event_count += kernel_sched_has(reading->sources, source);
        kernel_sched_take(sched, source, &event, &change);
        if (change.kind == KERNEL_SCHED_SWITCH)
            take_switch(reading, &change, event.time);
        else if (change.kind == KERNEL_SCHED_WAKING || change.kind == KERNEL_SCHED_WAKEUP)
            take_waking(reading, &change, event.time);
    }
    return reading->result;
}

static int compare(const void *left_thread, const void *right_thread)
{
    const struct sched_thread *left = left_thread, *right = right_thread;
    uint64_t left_ticks = left->ticks[SCHED_RUNNING], right_ticks = right->ticks[SCHED_RUNNING];

    if (left_ticks != right_ticks)
        return left_ticks > right_ticks ? -1 : 1;
    return left->tid < right->tid ? -1 : left->tid > right->tid;
}

/* Threads that never ran while they were watched are none of the recording's. */
static void put_in_order(struct sched_times *times)
{
    size_t kept = 0;

    for (size_t i = 0; i < times->count; i++)
        if (times->threads[i].ticks[SCHED_RUNNING] != 0)
            times->threads[kept++] = times->threads[i];
    times->count = kept;
    if (kept > 1)
        qsort(times->threads, kept, sizeof(*times->threads), compare);
}

static int read_trace(struct times_reading *reading, const struct view_trace *trace)
{
    struct kernel_sched sched;
    struct kernel_events events;
    int result = kernel_sched_init(&sched, reading->sources);

    if (result != 0)
        return result;
    if (!sched.has_runs) {
        kernel_sched_deinit(&sched);
        return -ENOENT;
    }
    result = kernel_events_open(&events, &trace->files, NULL);
    if (result == 0) {
        result = read_events(reading, &events, &sched);
        kernel_events_close(&events);
    }
    kernel_sched_deinit(&sched);
    return result;
}

int sched_times_read(struct sched_times *times, const struct view_trace *trace)
{
    struct kernel_sources sources;
    struct times_reading reading = {.times = times, .sources = &sources};
    int result = kernel_events_sources(&trace->files, &sources, NULL);

    *times = (struct sched_times){.count = 0};
    if (result != 0)
        return result;
    result = hash_map_init(&times->numbers, 64);
    if (result == 0)
        result = read_trace(&reading, trace);
    for (size_t i = 0; i < sources.source_count; i++)
        if (kernel_sched_has(&sources, &sources.sources[i]))
            times->lost_count += sources.sources[i].lost_count;
    kernel_sources_deinit(&sources);
    if (result == 0)
        put_in_order(times);
    else
        sched_times_free(times);
    return result;
}

void sched_times_free(struct sched_times *times)
{
    free(times->threads);
    hash_map_deinit(&times->numbers);
    *times = (struct sched_times){.count = 0};
}

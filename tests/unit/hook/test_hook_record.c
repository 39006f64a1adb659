/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE
#include "hook/hook_record.h"

#include "base/time_counter.h"
#include "hook/hook_thread.h"
#include "ring/ring_events.h"
#include "support/check.h"
#include "support/hook_lab.h"

#include <pthread.h>
#include <unistd.h>

#if defined(__x86_64__)

#define RECORDED (HOOK_STUB_RECORD | HOOK_STUB_RETURNS)
#define EVENTS   200000u

static int (*hooked)(int), (*nested)(int);
static struct gait_event seen[EVENTS];
static size_t seen_count;

static int same(int value)
{
    return value;
}

static int calls_same(int value)
{
    return hooked(value) + 1;
}

static int keep(void *context, const struct gait_event *events, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count && seen_count < EVENTS; i++)
        seen[seen_count++] = events[i];
    return 0;
}

static struct ring_region *make_ring(struct ring_events **events_out, enum ring_overflow overflow)
{
    const struct ring_options options = {.buffer_bytes = 1 << 16, .buffer_count = 4, .overflow = overflow};
    const struct event_block block = {.start = 0x1000, .size_bytes = 1};
    struct ring_region *region;
    uint32_t space;

    CHECK_EQUAL(ring_region_create(&options, &region), 0);
    CHECK_EQUAL(ring_events_open(dup(region->fd), events_out), 0);
    space = ring_region_new_space(region);
    for (uint32_t i = 0; i < 16; i++)
        CHECK(ring_region_add_block(region, space, i, &block));
    hook_recording_begin(region, space);
    return region;
}

static void drain(struct ring_events *events)
{
    const struct event_receiver receiver = {.process = keep};

    CHECK_EQUAL(ring_events_drain(events, &receiver), 0);
}

static void records_have_times_depths_and_the_thread(void)
{
    struct ring_events *events;
    uint64_t before, after;

    hook_recording_end();
    (void)make_ring(&events, RING_DROP);
    seen_count = 0;
    before = time_counter();
    CHECK_EQUAL(nested(3), 4);
    after = time_counter();
    drain(events);
    CHECK_EQUAL(seen_count, 4);
    CHECK_EQUAL(seen[0].kind, GAIT_EVENT_ENTER);
    CHECK_EQUAL(seen[1].kind, GAIT_EVENT_ENTER);
    CHECK_EQUAL(seen[2].kind, GAIT_EVENT_LEAVE);
    CHECK_EQUAL(seen[3].kind, GAIT_EVENT_LEAVE);
    CHECK_EQUAL(seen[0].depth, 0);
    CHECK_EQUAL(seen[1].depth, 1);
    CHECK_EQUAL(seen[2].depth, 1);
    CHECK_EQUAL(seen[3].depth, 0);
    CHECK(seen[0].time >= before && seen[3].time <= after);
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQUAL(seen[i].tid, (uint32_t)gettid());
        CHECK(i == 0 || seen[i].time >= seen[i - 1].time);
    }
    hook_recording_end();
    ring_events_close(events);
}

/* Nothing is lost at the ends of buffers, whichever of the two calls comes there. */
static void buffers_follow_each_other_without_a_gap(void)
{
    struct ring_events *events;

    (void)make_ring(&events, RING_DROP);
    seen_count = 0;
    for (unsigned i = 0; i < 30000; i++) {
        CHECK_EQUAL(nested((int)i), (int)i + 1);
        if (i % 1000 == 0)
            drain(events);
    }
    drain(events);
    CHECK_EQUAL(seen_count, 120000);
    for (size_t i = 0; i + 3 < seen_count; i += 4)
        if (seen[i].depth != 0 || seen[i + 1].depth != 1 || seen[i + 2].depth != 1 || seen[i + 3].depth != 0 ||
            seen[i + 3].time < seen[i].time)
            CHECK_EQUAL(i, 0);
    hook_recording_end();
    ring_events_close(events);
}

static void without_a_recording_calls_go_on(void)
{
    struct ring_events *events;

    for (int i = 0; i < 1000; i++)
        CHECK_EQUAL(nested(i), i + 1);
    (void)make_ring(&events, RING_DROP);
    seen_count = 0;
    CHECK_EQUAL(hooked(1), 1);
    drain(events);
    CHECK_EQUAL(seen_count, 2);
    hook_recording_end();
    CHECK_EQUAL(hooked(1), 1);
    drain(events);
    CHECK_EQUAL(seen_count, 2);
    ring_events_close(events);
}

static void *record_many(void *unused)
{
    for (int i = 0; i < 500; i++)
        CHECK_EQUAL(nested(i), i + 1);
    return unused;
}

static void lanes_of_dead_threads_are_closed(void)
{
    struct ring_events *events;
    struct ring_region *region = make_ring(&events, RING_DROP);
    pthread_t thread;

    seen_count = 0;
    for (unsigned i = 0; i < 20; i++) {
        CHECK_EQUAL(pthread_create(&thread, NULL, record_many, NULL), 0);
        CHECK_EQUAL(pthread_join(thread, NULL), 0);
        hook_threads_collect();
        drain(events);
    }
    CHECK_EQUAL(seen_count, 20 * 2000);
    CHECK(ring_region_header(region)->lane_count < 4);
    hook_recording_end();
    ring_events_close(events);
}

#endif

static const struct check_case cases[] = {
#if defined(__x86_64__)
    CHECK_CASE(records_have_times_depths_and_the_thread),
    CHECK_CASE(buffers_follow_each_other_without_a_gap),
    CHECK_CASE(without_a_recording_calls_go_on),
    CHECK_CASE(lanes_of_dead_threads_are_closed),
#endif
};

int main(void)
{
#if defined(__x86_64__)
    hook_lab_begin();
    hooked = (int (*)(int))hook_lab_hook((void *)same, 's', RECORDED);
    nested = (int (*)(int))hook_lab_hook((void *)calls_same, 'c', RECORDED);
#endif
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}

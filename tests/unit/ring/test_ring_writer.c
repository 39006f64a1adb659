/* SPDX-License-Identifier: MIT */
/* Where records are to be written, with nobody who reads; test_ring_events.c has both sides. */
#include "ring/ring_writer.h"

#include "support/check.h"

#include <stdatomic.h>

static struct ring_region *region;
static const _Atomic uint32_t never;

static void begin(enum ring_overflow overflow, unsigned buffer_count)
{
    const struct ring_options options = {4096, buffer_count, overflow};

    CHECK_EQUAL(ring_region_create(&options, &region), 0);
}

static struct ring_writer *open_writer(uint32_t tid)
{
    const struct ring_lane_owner owner = {.tid = tid, .events = 1, .space = 3, .with_times = true};
    struct ring_writer *writer = NULL;

    CHECK_EQUAL(ring_writer_open(region, &owner, &writer), 0);
    return writer;
}

static void a_lane_says_whose_it_is(void)
{
    struct ring_writer *writer;

    begin(RING_DROP, 2);
    writer = open_writer(0);
    CHECK_EQUAL(atomic_load(&writer->lane->state), RING_LANE_OPEN);
    CHECK_EQUAL(atomic_load(&writer->lane->generation), 1);
    CHECK_EQUAL(writer->lane->events, 1);
    CHECK_EQUAL(writer->lane->space, 3);
    CHECK_EQUAL(writer->lane->with_times, 1);
    ring_writer_set_tid(writer, 99);
    CHECK_EQUAL(atomic_load(&writer->lane->tid), 99);
    CHECK_EQUAL(ring_writer_close(writer, writer->start), 0);
    ring_region_destroy(region);
}

static void buffers_end_where_a_byte_of_the_position_says_so(void)
{
    struct ring_writer *writer;

    begin(RING_OVERWRITE, 3);
    writer = open_writer(1);
    for (unsigned i = 0; i < 10; i++) {
        CHECK_EQUAL(writer->end - writer->start, 4096);
        CHECK_EQUAL(writer->end % EVENT_END_ALIGNMENT, 0);
        CHECK_EQUAL(*(uint32_t *)(uintptr_t)writer->start, 0);
        memset((void *)(uintptr_t)writer->start, 0xff, 4096 + 100);
        CHECK_EQUAL(ring_writer_next(writer, writer->end + 100, &never), 0);
    }
    CHECK_EQUAL(atomic_load(&writer->lane->full), 10);
    CHECK_EQUAL(atomic_load(&writer->lane->begun), 11);
    CHECK_EQUAL(ring_writer_close(writer, writer->start), 0);
    ring_region_destroy(region);
}

/* A record that was made before there was a lane for it. */
static void a_buffer_may_begin_before_it_was_taken(void)
{
    const struct ring_buffer *buffer;
    struct ring_writer *writer;
    uint64_t taken;

    begin(RING_DROP, 2);
    writer = open_writer(1);
    buffer = &writer->lane->buffers[0];
    taken = buffer->first_time;
    ring_writer_begin_earlier(writer, taken + 5);
    CHECK_EQUAL(buffer->first_time, taken);
    ring_writer_begin_earlier(writer, taken - 5);
    CHECK_EQUAL(buffer->first_time, taken - 5);
    CHECK_EQUAL(ring_writer_close(writer, writer->start), 0);
    ring_region_destroy(region);
}

static void without_room_everything_is_dropped_and_counted(void)
{
    struct ring_writer *writer;
    struct ring_lane *lane;

    begin(RING_DROP, 2);
    writer = open_writer(1);
    lane = writer->lane;
    CHECK_EQUAL(ring_writer_next(writer, writer->end, &never), 0);
    CHECK_EQUAL(ring_writer_next(writer, writer->end, &never), 0);
    CHECK(writer->is_dropping);
    CHECK_EQUAL(writer->end % EVENT_END_ALIGNMENT, 0);
    CHECK_EQUAL(ring_writer_next(writer, writer->start + 40, &never), 40);
    CHECK(writer->is_dropping);
    /* Somebody has read one. */
    atomic_store(&lane->consumed, 1);
    CHECK_EQUAL(ring_writer_next(writer, writer->start + 60, &never), 60);
    CHECK(!writer->is_dropping);
    CHECK_EQUAL(atomic_load(&lane->buffers[0].lost_before), 100);
    CHECK_EQUAL(atomic_load(&lane->lost_bytes), 100);
    CHECK_EQUAL(ring_writer_close(writer, writer->start), 0);
    CHECK_EQUAL(atomic_load(&lane->state), RING_LANE_ENDED);
    ring_region_destroy(region);
}

static void who_gives_up_does_not_wait(void)
{
    static const _Atomic uint32_t at_once = 1;
    struct ring_writer *writer;

    begin(RING_BLOCK, 2);
    writer = open_writer(1);
    CHECK_EQUAL(ring_writer_next(writer, writer->end, &at_once), 0);
    CHECK_EQUAL(ring_writer_next(writer, writer->end, &at_once), 0);
    CHECK(writer->is_dropping);
    CHECK_EQUAL(ring_writer_close(writer, writer->start + 8), 8);
    ring_region_destroy(region);
}

static void threads_without_a_lane_are_counted_together(void)
{
    struct ring_writer *first, *second;

    begin(RING_DROP, 2);
    region->lane_limit = 1;
    first = open_writer(1);
    second = open_writer(2);
    CHECK(first->lane != NULL && second->lane == NULL);
    CHECK_EQUAL(ring_writer_next(second, second->start + 16, &never), 16);
    ring_writer_set_tid(second, 3);
    CHECK_EQUAL(ring_writer_close(second, second->start + 4), 4);
    CHECK_EQUAL(atomic_load(&ring_region_header(region)->lost_bytes), 20);
    CHECK_EQUAL(ring_writer_close(first, first->start), 0);
    ring_region_destroy(region);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_lane_says_whose_it_is),
    CHECK_CASE(buffers_end_where_a_byte_of_the_position_says_so),
    CHECK_CASE(a_buffer_may_begin_before_it_was_taken),
    CHECK_CASE(without_room_everything_is_dropped_and_counted),
    CHECK_CASE(who_gives_up_does_not_wait),
    CHECK_CASE(threads_without_a_lane_are_counted_together),
};

CHECK_MAIN(cases)

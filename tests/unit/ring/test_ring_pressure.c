/* SPDX-License-Identifier: MIT */
#include "ring/ring_pressure.h"

#include "ring/ring_notice.h"
#include "ring/ring_writer.h"
#include "support/check.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#define HELD_MS 30

static struct ring_region *region;
static struct ring_reader *reader;
static struct ring_writer *writer;
static const _Atomic uint32_t never;
static struct ring_batch last_piece;

static int take(void *context, const struct ring_batch *batch)
{
    (void)context;
    last_piece = *batch;
    return 0;
}

static const struct ring_taker taker = {take, NULL};

static void begin(enum ring_overflow overflow)
{
    const struct ring_options options = {4096, 2, overflow};
    const struct ring_lane_owner owner = {.tid = 5, .events = GAIT_EVENT_BLOCK};

    CHECK_EQUAL(ring_region_create(&options, &region), 0);
    CHECK_EQUAL(ring_reader_open(region->fd, &reader), 0);
    CHECK_EQUAL(ring_writer_open(region, &owner, &writer), 0);
    ring_writer_set_name(writer, "worker");
}

static void end(void)
{
    CHECK_EQUAL(ring_writer_close(writer, writer->start), 0);
    ring_reader_close(reader);
    ring_region_destroy(region);
}

/* A buffer with one record. */
static uint64_t fill_buffer(void)
{
    *(uint32_t *)(uintptr_t)writer->start = event_header(1, EVENT_RECORD_BLOCK);
    return ring_writer_next(writer, writer->start + 4, &never);
}

static struct ring_lane_status look(void)
{
    struct ring_lane_status status = {.tid = 0};

    CHECK(ring_pressure_look(reader, 0, &status));
    return status;
}

static void full_buffers_are_counted_until_they_are_read(void)
{
    struct ring_lane_status status;

    begin(RING_DROP);
    status = look();
    CHECK_EQUAL(ring_pressure_lanes(reader), 1);
    CHECK_EQUAL(status.tid, 5);
    CHECK_EQUAL(status.kind, RING_LANE_INDEX);
    CHECK_EQUAL(status.pressure, RING_FILLING);
    CHECK_EQUAL(status.used_bytes, 0);
    CHECK_EQUAL(status.capacity_bytes, 2 * 4096);
    CHECK_TEXT(status.name, "worker");
    CHECK_EQUAL(fill_buffer(), 0);
    CHECK_EQUAL(look().used_bytes, 4096);
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK_EQUAL(look().used_bytes, 0);
    end();
}

static void nothing_in_there_is_trusted(void)
{
    struct ring_lane_status status;

    begin(RING_DROP);
    atomic_store(&writer->lane->full, UINT64_MAX);
    atomic_store(&writer->lane->pressure, 77);
    atomic_store(&writer->lane->drop_reason, 77);
    writer->lane->kind = 77;
    status = look();
    CHECK_EQUAL(status.used_bytes, 2 * 4096);
    CHECK_EQUAL(status.pressure, RING_FILLING);
    CHECK_EQUAL(status.drop_reason, RING_DROP_NONE);
    CHECK_EQUAL(status.kind, RING_LANE_INDEX);
    atomic_store(&ring_region_header(region)->lane_count, UINT32_MAX);
    CHECK_EQUAL(ring_pressure_lanes(reader), reader->header.lane_limit);
    CHECK(!ring_pressure_look(reader, reader->header.lane_limit, &status));
    end();
}

static void a_lane_without_a_thread_is_free(void)
{
    struct ring_lane_status status;

    begin(RING_DROP);
    CHECK(!ring_pressure_look(reader, 1, &status));
    CHECK_EQUAL(ring_writer_close(writer, writer->start), 0);
    CHECK(!ring_pressure_look(reader, 0, &status));
    ring_reader_close(reader);
    ring_region_destroy(region);
}

static void who_drops_says_why_and_how_often_it_began(void)
{
    begin(RING_DROP);
    CHECK_EQUAL(fill_buffer(), 0);
    CHECK_EQUAL(look().pressure, RING_FILLING);
    CHECK_EQUAL(fill_buffer(), 0);
    CHECK_EQUAL(look().pressure, RING_DROPPING);
    CHECK_EQUAL(look().drop_reason, RING_DROP_FULL);
    CHECK_EQUAL(fill_buffer(), 4);
    CHECK_EQUAL(look().drop_count, 1);
    CHECK_EQUAL(look().lost_bytes, 4);
    CHECK_EQUAL(look().wait_count, 0);
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK_EQUAL(fill_buffer(), 4);
    CHECK_EQUAL(look().pressure, RING_FILLING);
    CHECK_EQUAL(look().drop_reason, RING_DROP_NONE);
    CHECK_EQUAL(fill_buffer(), 0);
    CHECK_EQUAL(fill_buffer(), 0);
    CHECK_EQUAL(look().drop_count, 2);
    end();
}

static void who_may_not_wait_says_why(void)
{
    static const _Atomic uint32_t at_once = 1;

    begin(RING_BLOCK);
    CHECK_EQUAL(fill_buffer(), 0);
    CHECK_EQUAL(ring_writer_next(writer, writer->end, &at_once), 0);
    CHECK_EQUAL(look().drop_reason, RING_DROP_LEAVING);
    atomic_store(&ring_notices_in(region->base)->reader, FUTEX_OWNER_DIED);
    CHECK_EQUAL(ring_writer_next(writer, writer->start, &never), 0);
    CHECK_EQUAL(look().drop_reason, RING_DROP_DEAD);
    CHECK_EQUAL(look().drop_count, 1);
    end();
}

static void *fill_more_than_there_is_room_for(void *unused)
{
    for (unsigned i = 0; i < 2; i++)
        CHECK_EQUAL(fill_buffer(), 0);
    return unused;
}

static void sleep_ms(unsigned ms)
{
    const struct timespec time = {.tv_nsec = (long)ms * 1000000};

    nanosleep(&time, NULL);
}

static void who_waits_is_seen_and_counted(void)
{
    pthread_t thread;

    begin(RING_BLOCK);
    CHECK_EQUAL(pthread_create(&thread, NULL, fill_more_than_there_is_room_for, NULL), 0);
    while (look().pressure != RING_WAITING)
        sched_yield();
    CHECK_EQUAL(look().wait_count, 1);
    sleep_ms(HELD_MS);
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(look().pressure, RING_FILLING);
    CHECK_EQUAL(look().wait_count, 1);
    CHECK_EQUAL(look().drop_count, 0);
    /* It may have begun to sleep some time after it said so. */
    CHECK(look().waited_ns > 0 && look().waited_ns < 60000000000);
    /* Whoever takes what it wrote then is told, too. */
    *(uint32_t *)(uintptr_t)writer->start = event_header(1, EVENT_RECORD_BLOCK);
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK_EQUAL(last_piece.wait_count, 1);
    CHECK_EQUAL(last_piece.waited_ns, look().waited_ns);
    end();
}

static void another_thread_begins_at_zero(void)
{
    const struct ring_lane_owner owner = {.tid = 6, .events = GAIT_EVENT_BLOCK};

    begin(RING_DROP);
    atomic_store(&writer->lane->wait_count, 3);
    atomic_store(&writer->lane->waited_ns, 4);
    CHECK_EQUAL(fill_buffer(), 0);
    CHECK_EQUAL(fill_buffer(), 0);
    CHECK_EQUAL(ring_writer_close(writer, writer->start), 0);
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK(last_piece.is_last && last_piece.wait_count == 3 && last_piece.waited_ns == 4);
    CHECK_EQUAL(ring_writer_open(region, &owner, &writer), 0);
    CHECK_EQUAL(look().tid, 6);
    CHECK_EQUAL(look().wait_count, 0);
    CHECK_EQUAL(look().waited_ns, 0);
    CHECK_EQUAL(look().drop_count, 0);
    CHECK_EQUAL(look().pressure, RING_FILLING);
    end();
}

static void states_and_reasons_have_names(void)
{
    CHECK_TEXT(ring_pressure_name(RING_WAITING), "waiting");
    CHECK_TEXT(ring_drop_reason_name(RING_DROP_SILENT), "silent");
    for (unsigned i = 0; i < RING_DROP_REASONS; i++)
        CHECK(ring_drop_reason_name((enum ring_drop_reason)i) != NULL);
    CHECK_TEXT(ring_drop_reason_name(RING_DROP_REASONS), "?");
}

static const struct check_case cases[] = {
    CHECK_CASE(full_buffers_are_counted_until_they_are_read),
    CHECK_CASE(nothing_in_there_is_trusted),
    CHECK_CASE(a_lane_without_a_thread_is_free),
    CHECK_CASE(who_drops_says_why_and_how_often_it_began),
    CHECK_CASE(who_may_not_wait_says_why),
    CHECK_CASE(who_waits_is_seen_and_counted),
    CHECK_CASE(another_thread_begins_at_zero),
    CHECK_CASE(states_and_reasons_have_names),
};

CHECK_MAIN(cases)

/* SPDX-License-Identifier: MIT */
/* Records as they are; what they mean, and readers of all kinds of rings, are in test_ring_events.c. */
#include "ring/ring_reader.h"

#include "base/time_counter.h"
#include "ring/detail_record.h"
#include "ring/ring_writer.h"
#include "support/check.h"
#include "support/random.h"

#include <errno.h>

static struct ring_region *region;
static struct ring_reader *reader;
static const _Atomic uint32_t never;

/* The batches that were taken, and what the taker says next. */
static struct ring_batch batches[8];
static uint32_t first_words[8];
static unsigned piece_count;
static int answer;

static int take(void *context, const struct ring_batch *batch)
{
    (void)context;
    if (answer != 0)
        return answer;
    first_words[piece_count] = batch->size_bytes == 0 ? 0 : *(const uint32_t *)(const void *)batch->bytes;
    batches[piece_count++] = *batch;
    return 0;
}

static const struct ring_taker taker = {take, NULL};

static struct ring_writer *begin(void)
{
    static const struct ring_options options = {4096, 2, RING_DROP};
    static const struct ring_lane_owner owner = {.tid = 5, .events = GAIT_EVENT_BLOCK, .space = 9};
    struct ring_writer *writer = NULL;

    CHECK_EQUAL(ring_region_create(&options, &region), 0);
    CHECK_EQUAL(ring_reader_open(region->fd, &reader), 0);
    CHECK_EQUAL(ring_writer_open(region, &owner, &writer), 0);
    piece_count = 0;
    answer = 0;
    return writer;
}

static void end(void)
{
    ring_reader_close(reader);
    ring_region_destroy(region);
}

static uint64_t write_record(uint64_t position, uint32_t number)
{
    *(uint32_t *)(uintptr_t)position = event_header(number, EVENT_RECORD_BLOCK);
    return position + 4;
}

static void pieces_say_whose_they_are_and_when_they_were_written(void)
{
    uint64_t before = time_counter(), position;
    struct ring_writer *writer = begin();

    position = write_record(write_record(writer->start, 1), 2);
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK_EQUAL(piece_count, 1);
    CHECK_EQUAL(batches[0].tid, 5);
    CHECK_EQUAL(batches[0].generation, 1);
    CHECK_EQUAL(batches[0].space, 9);
    CHECK_EQUAL(batches[0].size_bytes, 8);
    CHECK(!batches[0].is_last && !batches[0].with_times);
    CHECK(batches[0].first_time >= before && batches[0].last_time >= batches[0].first_time);
    CHECK(batches[0].last_time <= time_counter());
    /* Nothing comes for a while: then what comes is not from before it. */
    before = time_counter();
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    position = write_record(position, 3);
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK_EQUAL(piece_count, 2);
    CHECK_EQUAL(first_words[1], event_header(3, EVENT_RECORD_BLOCK));
    CHECK(batches[1].first_time >= before && batches[1].first_time <= batches[1].last_time);
    CHECK_EQUAL(ring_writer_close(writer, position), 0);
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK_EQUAL(piece_count, 3);
    CHECK(batches[2].is_last && batches[2].size_bytes == 0);
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK_EQUAL(piece_count, 3);
    end();
}

static void what_could_not_be_taken_comes_again(void)
{
    struct ring_writer *writer = begin();
    uint64_t position = write_record(writer->start, 1);

    answer = -ENOSPC;
    CHECK_EQUAL(ring_reader_take(reader, &taker), -ENOSPC);
    answer = 0;
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK_EQUAL(piece_count, 1);
    CHECK_EQUAL(batches[0].size_bytes, 4);
    CHECK_EQUAL(ring_writer_close(writer, position), 0);
    end();
}

static void losses_are_told_with_what_comes_behind_them(void)
{
    struct ring_writer *writer = begin();
    uint64_t position = write_record(writer->start, 1);

    CHECK_EQUAL(ring_writer_next(writer, position, &never), 0);
    CHECK_EQUAL(ring_writer_next(writer, write_record(writer->start, 2), &never), 0);
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK_EQUAL(piece_count, 2);
    CHECK_EQUAL(ring_writer_next(writer, writer->start + 44, &never), 44);
    position = write_record(writer->start, 3);
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK_EQUAL(piece_count, 3);
    CHECK_EQUAL(batches[2].lost_before, 44);
    CHECK_EQUAL(ring_reader_lost(reader), 44);
    CHECK_EQUAL(ring_writer_close(writer, position), 0);
    end();
}

/* Number 0: its place is taken, and that is all. */
static uint64_t write_hooked(uint64_t position, uint32_t number)
{
    ((uint64_t *)(uintptr_t)position)[1] = time_counter();
    if (number != 0)
        *(uint32_t *)(uintptr_t)position = event_header(number, EVENT_RECORD_ENTER);
    return position + EVENT_HOOK_BYTES;
}

static struct ring_writer *begin_hooked(void)
{
    static const struct ring_lane_owner owner = {.tid = 6, .events = EVENTS_HOOKED, .with_times = true};
    struct ring_writer *unused = begin(), *writer = NULL;

    CHECK_EQUAL(ring_writer_close(unused, unused->start), 0);
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK_EQUAL(ring_writer_open(region, &owner, &writer), 0);
    piece_count = 0;
    return writer;
}

/* A handler may jump out of a gate that is about to write: what follows is waited for until nobody can come back. */
static void records_that_are_never_completed_are_passed_over_in_full_buffers(void)
{
    struct ring_writer *writer = begin_hooked();
    uint64_t position = write_hooked(write_hooked(writer->start, 0), 1);

    position = write_hooked(write_hooked(write_hooked(position, 2), 0), 0);
    position = write_hooked(write_hooked(position, 3), 0);
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK_EQUAL(piece_count, 0);
    CHECK_EQUAL(ring_writer_next(writer, position, &never), 0);
    position = write_hooked(writer->start, 4);
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK_EQUAL(piece_count, 3);
    CHECK_EQUAL(first_words[0], event_header(1, EVENT_RECORD_ENTER));
    CHECK_EQUAL(batches[0].size_bytes, 2 * EVENT_HOOK_BYTES);
    CHECK_EQUAL(first_words[1], event_header(3, EVENT_RECORD_ENTER));
    CHECK_EQUAL(batches[1].size_bytes, EVENT_HOOK_BYTES);
    CHECK_EQUAL(first_words[2], event_header(4, EVENT_RECORD_ENTER));
    CHECK_EQUAL(ring_writer_close(writer, position), 0);
    end();
}

static void and_where_nobody_writes_any_more(void)
{
    struct ring_writer *writer = begin_hooked();
    uint64_t position = write_hooked(write_hooked(writer->start, 1), 0);

    position = write_hooked(write_hooked(write_hooked(position, 0), 2), 3);
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK_EQUAL(piece_count, 1);
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK_EQUAL(piece_count, 1);
    ring_reader_conclude(reader);
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK_EQUAL(piece_count, 2);
    CHECK_EQUAL(first_words[1], event_header(2, EVENT_RECORD_ENTER));
    CHECK_EQUAL(batches[1].size_bytes, 2 * EVENT_HOOK_BYTES);
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK_EQUAL(piece_count, 2);
    CHECK_EQUAL(ring_writer_close(writer, position), 0);
    end();
}

static void blocks_are_given_once(void)
{
    struct ring_writer *writer = begin();
    const struct event_block block = {.start = 0x1000, .size_bytes = 4};
    const uint8_t *blocks;
    size_t size;

    CHECK(ring_region_add_block(region, 9, 1, &block));
    CHECK_EQUAL(ring_reader_blocks(reader, &blocks, &size), 0);
    CHECK_EQUAL(size, sizeof(struct ring_block));
    CHECK_EQUAL(((const struct ring_block *)(const void *)blocks)->start, 0x1000);
    CHECK_EQUAL(ring_reader_blocks(reader, &blocks, &size), 0);
    CHECK_EQUAL(size, 0);
    atomic_store(&ring_region_header(region)->blocks_used, RING_BLOCKS_BYTES + 8);
    CHECK_EQUAL(ring_reader_blocks(reader, &blocks, &size), -EPROTO);
    CHECK_EQUAL(ring_writer_close(writer, writer->start), 0);
    end();
}

static void names_are_those_of_the_lanes_owner(void)
{
    static const struct ring_lane_owner owner = {.tid = 6};
    struct ring_writer *writer = begin();
    char name[RING_NAME_BYTES];

    ring_reader_name(reader, 0, 1, name);
    CHECK_TEXT(name, "");
    ring_writer_set_name(writer, "worker");
    ring_reader_name(reader, 0, 1, name);
    CHECK_TEXT(name, "worker");
    ring_writer_set_name(writer, "a name that is too long");
    ring_reader_name(reader, 0, 1, name);
    CHECK_TEXT(name, "a name that is ");
    ring_reader_name(reader, 0, 2, name);
    CHECK_TEXT(name, "");
    ring_reader_name(reader, UINT32_MAX, 1, name);
    CHECK_TEXT(name, "");
    CHECK_EQUAL(ring_writer_close(writer, writer->start), 0);
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK_EQUAL(ring_writer_open(region, &owner, &writer), 0);
    ring_reader_name(reader, 0, 1, name);
    CHECK_TEXT(name, "");
    ring_reader_name(reader, 0, 2, name);
    CHECK_TEXT(name, "");
    CHECK_EQUAL(ring_writer_close(writer, writer->start), 0);
    end();
}

static void patterns_that_matched_are_told(void)
{
    struct ring_writer *writer = begin();

    CHECK_EQUAL(ring_reader_matched(reader), 0);
    ring_region_note_match(region, 0);
    ring_region_note_match(region, 63);
    ring_region_note_match(region, 64);
    CHECK_EQUAL(ring_reader_matched(reader), 1ull << 63 | 1);
    CHECK_EQUAL(ring_reader_unresolved(reader), 0);
    ring_region_note_unresolved(region, 5);
    ring_region_note_unresolved(region, 64);
    CHECK_EQUAL(ring_reader_unresolved(reader), 1ull << 5);
    CHECK_EQUAL(ring_writer_close(writer, writer->start), 0);
    end();
}

static struct ring_writer *open_detail(void)
{
    const struct ring_lane_owner owner = {.tid = 6, .kind = RING_LANE_DETAIL};
    struct ring_writer *writer = NULL;

    CHECK_EQUAL(ring_writer_open(region, &owner, &writer), 0);
    return writer;
}

static uint64_t write_leave(uint64_t position)
{
    struct detail_leave leave = {.record = {.size_bytes = sizeof(leave), .kind = DETAIL_LEAVE}};

    memcpy((void *)(uintptr_t)position, &leave, sizeof(leave));
    return position + sizeof(leave);
}

static void details_are_taken_as_far_as_they_are_written(void)
{
    struct ring_writer *writer = begin(), *detail = open_detail();
    uint64_t position = write_leave(write_leave(detail->start));

    CHECK(writer->serial != detail->serial);
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK_EQUAL(piece_count, 1);
    CHECK_EQUAL(batches[0].kind, RING_LANE_DETAIL);
    CHECK_EQUAL(batches[0].serial, detail->serial);
    CHECK_EQUAL(batches[0].size_bytes, 2 * sizeof(struct detail_leave));
    CHECK_EQUAL(ring_writer_close(detail, write_leave(position)), 0);
    CHECK_EQUAL(ring_reader_take(reader, &taker), 0);
    CHECK_EQUAL(piece_count, 3);
    CHECK_EQUAL(batches[1].size_bytes, sizeof(struct detail_leave));
    CHECK(batches[2].is_last);
    CHECK_EQUAL(ring_writer_close(writer, writer->start), 0);
    end();
}

static int check_bounds(void *context, const struct ring_batch *batch)
{
    uint64_t offset = (uint64_t)(batch->bytes - reader->base) % RING_UNIT_BYTES;

    (void)context;
    CHECK(batch->size_bytes <= 4096 + EVENT_SLACK_BYTES);
    CHECK(offset >= RING_UNIT_BYTES - 4096 || offset + batch->size_bytes <= EVENT_SLACK_BYTES);
    return 0;
}

/* Whatever a process writes into its detail lane, what is taken is within a buffer, or the lane is given up. */
static void anything_may_stand_in_a_detail_lane(void)
{
    const struct ring_taker checker = {check_bounds, NULL};
    struct random random;

    random_init(&random, 1);
    for (unsigned round = 0; round < 300; round++) {
        struct ring_writer *writer = begin(), *detail = open_detail();
        uint64_t position = detail->start;

        while (position < detail->end - DETAIL_RECORD_BYTES_MAX)
            position = write_leave(position);
        for (unsigned i = 0; i < 8; i++) {
            uint32_t word = (uint32_t)random_edge(&random);

            memcpy((void *)(uintptr_t)(detail->start + random_below(&random, 1024) * 4), &word, sizeof(word));
        }
        if (random_chance(&random, 1, 4))
            detail->lane->kind = (uint32_t)random_edge(&random);
        if (random_chance(&random, 1, 4))
            atomic_store(&detail->lane->full, random_edge(&random));
        if (random_chance(&random, 1, 4))
            atomic_store(&detail->lane->buffers[0].written_bytes, random_edge(&random));
        for (unsigned i = 0; i < 3; i++) {
            int result = ring_reader_take(reader, &checker);

            /* Said once. */
            CHECK(result == 0 || (result == -EPROTO && i == 0));
        }
        CHECK_EQUAL(ring_writer_close(writer, writer->start), 0);
        end();
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(details_are_taken_as_far_as_they_are_written),
    CHECK_CASE(anything_may_stand_in_a_detail_lane),
    CHECK_CASE(pieces_say_whose_they_are_and_when_they_were_written),
    CHECK_CASE(what_could_not_be_taken_comes_again),
    CHECK_CASE(losses_are_told_with_what_comes_behind_them),
    CHECK_CASE(records_that_are_never_completed_are_passed_over_in_full_buffers),
    CHECK_CASE(and_where_nobody_writes_any_more),
    CHECK_CASE(blocks_are_given_once),
    CHECK_CASE(names_are_those_of_the_lanes_owner),
    CHECK_CASE(patterns_that_matched_are_told),
};

CHECK_MAIN(cases)

/* SPDX-License-Identifier: MIT */
#include "record/chunk_collector.h"

#include "support/check.h"

#include <errno.h>
#include <stdlib.h>

static uint8_t source[1 << 20];

/* The chunks that were handed over. */
static struct {
    unsigned count;
    struct chunk_contents last;
    struct trace_mark marks[TRACE_MARKS_MAX];
    int result;
} taken;

static int take(void *context, const struct chunk_contents *contents)
{
    (void)context;
    if (taken.result != 0)
        return taken.result;
    taken.count++;
    taken.last = *contents;
    if (contents->mark_count != 0)
        memcpy(taken.marks, contents->marks, contents->mark_count * sizeof(*contents->marks));
    CHECK(memcmp(contents->bytes, source, contents->size_bytes) == 0);
    return 0;
}

static const struct chunk_taker taker = {.take = take};

/* Contents that go on where the last one ended. */
static struct chunk_contents contents_at(size_t at, size_t size_bytes, uint64_t time)
{
    return (struct chunk_contents){
        .bytes = source + at,
        .size_bytes = size_bytes,
        .first_time = time,
        .last_time = time + 10,
        .has_records = true,
    };
}

static void begin(void)
{
    memset(&taken, 0, sizeof(taken));
    for (size_t i = 0; i < sizeof(source); i++)
        source[i] = (uint8_t)(i * 7 >> 3);
}

static void small_batches_become_one_chunk_with_marks(void)
{
    struct chunk_collector collector = {.capacity = 0};

    begin();
    for (uint64_t i = 0; i < 5; i++) {
        struct chunk_contents contents = contents_at(i * 1000, 1000, 100 + i * 10);

        CHECK_EQUAL(chunk_collector_add(&collector, &contents, (int64_t)(7 + i), &taker), 0);
    }
    CHECK_EQUAL(taken.count, 0);
    CHECK_EQUAL(collector.began_ns, 7);
    CHECK_EQUAL(chunk_collector_flush(&collector, &taker), 0);
    CHECK_EQUAL(taken.count, 1);
    CHECK_EQUAL(taken.last.size_bytes, 5000);
    CHECK_EQUAL(taken.last.first_time, 100);
    CHECK_EQUAL(taken.last.last_time, 150);
    CHECK(taken.last.has_records);
    CHECK_EQUAL(taken.last.mark_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_EQUAL(taken.marks[i].offset, (i + 1) * 1000);
        CHECK_EQUAL(taken.marks[i].time, 100 + (i + 1) * 10);
    }
    /* Nothing is left. */
    CHECK_EQUAL(chunk_collector_flush(&collector, &taker), 0);
    CHECK_EQUAL(taken.count, 1);
    chunk_collector_deinit(&collector);
}

static void large_batches_go_through_in_order(void)
{
    struct chunk_contents small = contents_at(0, 100, 50), large = contents_at(0, 200000, 60);
    struct chunk_collector collector = {.capacity = 0};

    begin();
    CHECK_EQUAL(chunk_collector_add(&collector, &small, 0, &taker), 0);
    CHECK_EQUAL(taken.count, 0);
    CHECK_EQUAL(chunk_collector_add(&collector, &large, 0, &taker), 0);
    CHECK_EQUAL(taken.count, 2);
    CHECK(taken.last.bytes == source);
    CHECK_EQUAL(taken.last.mark_count, 0);
    chunk_collector_deinit(&collector);
}

static void enough_is_handed_over(void)
{
    struct chunk_collector collector = {.capacity = 0};
    size_t at = 0;

    begin();
    for (; taken.count == 0; at += 40000) {
        struct chunk_contents contents = contents_at(at, 40000, 50);

        CHECK(at < sizeof(source) - 40000);
        CHECK_EQUAL(chunk_collector_add(&collector, &contents, 0, &taker), 0);
    }
    CHECK_EQUAL(taken.last.size_bytes, at);
    CHECK(at > 40000);
    /* Many tiny ones, too: each has a mark. */
    begin();
    for (at = 0; taken.count == 0; at++) {
        struct chunk_contents contents = contents_at(at, 1, 50 - at % 2);

        CHECK(at < TRACE_MARKS_MAX);
        CHECK_EQUAL(chunk_collector_add(&collector, &contents, 0, &taker), 0);
    }
    CHECK_EQUAL(taken.last.mark_count, at - 1);
    /* Times never fall. */
    for (uint32_t i = 0; i < taken.last.mark_count; i++)
        CHECK_EQUAL(taken.marks[i].time, 50);
    chunk_collector_deinit(&collector);
}

static void a_loss_begins_a_chunk(void)
{
    struct chunk_contents before = contents_at(0, 100, 50), behind = contents_at(0, 100, 60);
    struct chunk_collector collector = {.capacity = 0};

    begin();
    behind.lost_before = 16;
    CHECK_EQUAL(chunk_collector_add(&collector, &before, 0, &taker), 0);
    CHECK_EQUAL(chunk_collector_add(&collector, &behind, 0, &taker), 0);
    CHECK_EQUAL(taken.count, 1);
    CHECK_EQUAL(taken.last.lost_before, 0);
    CHECK_EQUAL(chunk_collector_flush(&collector, &taker), 0);
    CHECK_EQUAL(taken.last.lost_before, 16);
    chunk_collector_deinit(&collector);
}

static void records_with_times_need_no_marks(void)
{
    struct chunk_collector collector = {.capacity = 0};

    begin();
    for (size_t i = 0; i < 3; i++) {
        struct chunk_contents contents = contents_at(i * 100, 100, 50 + i);

        contents.format = (struct event_format){.is_wide = true, .with_times = true};
        CHECK_EQUAL(chunk_collector_add(&collector, &contents, 0, &taker), 0);
    }
    CHECK_EQUAL(chunk_collector_flush(&collector, &taker), 0);
    CHECK_EQUAL(taken.last.size_bytes, 300);
    CHECK_EQUAL(taken.last.mark_count, 0);
    chunk_collector_deinit(&collector);
}

static void what_could_not_be_taken_is_kept(void)
{
    struct chunk_contents contents = contents_at(0, 100, 50);
    struct chunk_collector collector = {.capacity = 0};

    begin();
    CHECK_EQUAL(chunk_collector_add(&collector, &contents, 0, &taker), 0);
    taken.result = -ENOSPC;
    CHECK_EQUAL(chunk_collector_flush(&collector, &taker), -ENOSPC);
    taken.result = 0;
    CHECK_EQUAL(chunk_collector_flush(&collector, &taker), 0);
    CHECK_EQUAL(taken.last.size_bytes, 100);
    chunk_collector_deinit(&collector);
}

static void what_comes_with_an_error_is_not_there(void)
{
    struct chunk_contents contents = contents_at(0, 60 << 10, 50);
    struct chunk_collector collector = {.capacity = 0};

    begin();
    CHECK_EQUAL(chunk_collector_add(&collector, &contents, 0, &taker), 0);
    taken.result = -ENOSPC;
    /* It comes again, as the caller was told that it was not taken. */
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(chunk_collector_add(&collector, &contents, 0, &taker), -ENOSPC);
    CHECK_EQUAL(collector.contents.size_bytes, 60 << 10);
    taken.result = 0;
    CHECK_EQUAL(chunk_collector_add(&collector, &contents, 0, &taker), 0);
    CHECK_EQUAL(taken.last.size_bytes, 120 << 10);
    chunk_collector_deinit(&collector);
}

static const struct check_case cases[] = {
    CHECK_CASE(small_batches_become_one_chunk_with_marks),
    CHECK_CASE(large_batches_go_through_in_order),
    CHECK_CASE(enough_is_handed_over),
    CHECK_CASE(a_loss_begins_a_chunk),
    CHECK_CASE(records_with_times_need_no_marks),
    CHECK_CASE(what_could_not_be_taken_is_kept),
    CHECK_CASE(what_comes_with_an_error_is_not_there),
};

CHECK_MAIN(cases)

/* SPDX-License-Identifier: MIT */
#include "trace/record_counts.h"

#include "support/check.h"
#include "support/long_calls.h"
#include "trace/crc32c.h"

#include <string.h>

static struct record_counts *counts;
static struct trace_bytes bytes;
static uint8_t written[TRACE_COUNTS_BYTES_MAX];

static size_t take(size_t room)
{
    return record_counts_take(counts, (struct packing_source){bytes.bytes, bytes.size_bytes}, room);
}

static void put(uint32_t number, enum event_record record, uint32_t depth)
{
    trace_bytes_put_header(&bytes, number, record);
    trace_bytes_put(&bytes, &depth, sizeof(depth));
    trace_bytes_put_long(&bytes, 7);
}

static void begin(void)
{
    CHECK_EQUAL(record_counts_create(&counts), 0);
    bytes.size_bytes = 0;
}

static void end(void)
{
    record_counts_destroy(counts);
}

static void functions_are_counted_in_the_order_of_their_first_records(void)
{
    const struct trace_count expected[] = {{700, 2, 1}, {3, 1, 2}};
    struct trace_counts header;

    begin();
    put(700, EVENT_RECORD_ENTER, 9);
    put(3, EVENT_RECORD_ENTER, 5);
    put(3, EVENT_RECORD_LEAVE, 5);
    put(700, EVENT_RECORD_LEAVE, 4);
    put(3, EVENT_RECORD_UNWOUND, 6);
    put(700, EVENT_RECORD_ENTER, 8);
    CHECK_EQUAL(take(SIZE_MAX), 40);
    memset(written, 0xff, sizeof(written));
    record_counts_write(counts, written);
    memcpy(&header, written, sizeof(header));
    CHECK_EQUAL(header.count, 2);
    CHECK_EQUAL(header.lowest_depth, 4);
    CHECK_EQUAL(header.reserved, 0);
    CHECK_EQUAL(header.crc, crc32c_by_tables(0, written + 8, 8 + sizeof(expected)));
    CHECK_EQUAL(record_counts_sum(written, 2), header.crc);
    CHECK(memcmp(written + sizeof(header), expected, sizeof(expected)) == 0);
    CHECK_EQUAL(written[40], 0xff);
    end();
}

/* Nothing is left of the chunk before. */
static void each_chunk_is_counted_anew(void)
{
    begin();
    put(5, EVENT_RECORD_ENTER, 0);
    CHECK_EQUAL(take(SIZE_MAX), 32);
    CHECK_EQUAL(take(SIZE_MAX), 32);
    record_counts_write(counts, written);
    CHECK_EQUAL(((const struct trace_count *)(const void *)(written + 16))->entered, 1);
    CHECK_EQUAL(take(31), 0);
    end();
}

static void what_cannot_be_counted_is_not(void)
{
    begin();
    CHECK_EQUAL(take(SIZE_MAX), 0);
    put(5, EVENT_RECORD_ENTER, 0);
    bytes.size_bytes--;
    CHECK_EQUAL(take(SIZE_MAX), 0);
    bytes.size_bytes = 0;
    put(5, EVENT_RECORD_ENTER, 0);
    put(5, EVENT_RECORD_BLOCK, 0);
    CHECK_EQUAL(take(SIZE_MAX), 0);
    bytes.size_bytes = 0;
    put(5, EVENT_RECORD_ENTER, 0);
    put(1u << 20, EVENT_RECORD_ENTER, 0);
    CHECK_EQUAL(take(SIZE_MAX), 0);
    /* Nor does it disturb the next one. */
    bytes.size_bytes = 0;
    put(5, EVENT_RECORD_LEAVE, 0);
    CHECK_EQUAL(take(SIZE_MAX), 32);
    record_counts_write(counts, written);
    CHECK_EQUAL(((const struct trace_count *)(const void *)(written + 16))->entered, 0);
    CHECK_EQUAL(((const struct trace_count *)(const void *)(written + 16))->left, 1);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_are_counted_in_the_order_of_their_first_records),
    CHECK_CASE(each_chunk_is_counted_anew),
    CHECK_CASE(what_cannot_be_counted_is_not),
};

CHECK_MAIN(cases)

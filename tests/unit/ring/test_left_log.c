/* SPDX-License-Identifier: MIT */
#include "ring/left_log.h"

#include "ring/ring_reader.h"
#include "ring/ring_region.h"
#include "support/check.h"

#include <string.h>

static struct ring_region *ring;
static struct ring_reader *reader;
static struct ring_left seen[2 * RING_LEFT_KEPT];

static void begin(void)
{
    static const struct ring_options options;

    CHECK_EQUAL(ring_region_create(&options, &ring), 0);
    CHECK_EQUAL(ring_reader_open(ring->fd, &reader), 0);
}

static void end(void)
{
    ring_reader_close(reader);
    ring_region_destroy(ring);
}

static void add(uint32_t tid, uint32_t reason, uint32_t code_bytes)
{
    left_log_add(ring, &(struct ring_left){.time = tid * 10,
                                           .pc = tid * 100,
                                           .tid = tid,
                                           .reason = reason,
                                           .code = {0x48, 0xcb},
                                           .code_bytes = code_bytes});
}

static void what_was_told_is_read(void)
{
    begin();
    CHECK_EQUAL(left_log_count(reader), 0);
    CHECK_EQUAL(left_log_read(reader, seen, RING_LEFT_KEPT), 0);
    add(7, RING_LEFT_INSTRUCTION, 2);
    add(8, RING_LEFT_MEMORY, 0);
    CHECK_EQUAL(left_log_count(reader), 2);
    CHECK_EQUAL(left_log_read(reader, seen, 1), 1);
    CHECK_EQUAL(left_log_read(reader, seen, RING_LEFT_KEPT), 2);
    CHECK_EQUAL(seen[0].time, 70);
    CHECK_EQUAL(seen[0].pc, 700);
    CHECK_EQUAL(seen[0].tid, 7);
    CHECK_EQUAL(seen[0].reason, RING_LEFT_INSTRUCTION);
    CHECK_EQUAL(seen[0].code_bytes, 2);
    CHECK_EQUAL(memcmp(seen[0].code, "\x48\xcb", 3), 0);
    CHECK_EQUAL(seen[1].tid, 8);
    CHECK_EQUAL(seen[1].reason, RING_LEFT_MEMORY);
    end();
}

static void the_first_ones_are_kept_and_all_are_counted(void)
{
    begin();
    for (uint32_t i = 1; i <= 3 * RING_LEFT_KEPT; i++)
        add(i, RING_LEFT_BLIND, 1);
    CHECK_EQUAL(left_log_count(reader), 3 * RING_LEFT_KEPT);
    CHECK_EQUAL(left_log_read(reader, seen, 2 * RING_LEFT_KEPT), RING_LEFT_KEPT);
    for (uint32_t i = 0; i < RING_LEFT_KEPT; i++)
        CHECK_EQUAL(seen[i].tid, i + 1);
    end();
}

static void nonsense_of_the_other_side_is_not_believed(void)
{
    begin();
    add(1, RING_LEFT_REASONS, 1);
    add(2, RING_LEFT_NEW_THREAD, 4000);
    CHECK_EQUAL(left_log_read(reader, seen, RING_LEFT_KEPT), 1);
    CHECK_EQUAL(seen[0].tid, 2);
    CHECK_EQUAL(seen[0].code_bytes, RING_LEFT_CODE_BYTES);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(what_was_told_is_read),
    CHECK_CASE(the_first_ones_are_kept_and_all_are_counted),
    CHECK_CASE(nonsense_of_the_other_side_is_not_believed),
};

CHECK_MAIN(cases)

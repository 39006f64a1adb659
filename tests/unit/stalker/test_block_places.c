/* SPDX-License-Identifier: MIT */
/* Whatever is asked for, no block that is concerned is left out; and where there is no code, nothing is found. */
#include "stalker/block_places.h"

#include "support/check.h"
#include "support/random.h"

#define BLOCKS 3000u

static struct block_places places;

static struct {
    uint64_t start;
    uint64_t end;
} blocks[BLOCKS];

static void begin(void)
{
    CHECK_EQUAL(block_places_init(&places), 0);
}

static void add(uint32_t index, uint64_t start, uint64_t bytes)
{
    blocks[index].start = start;
    blocks[index].end = start + bytes;
    block_places_add(&places, start, start + bytes, index);
}

/* All that overlap are in the run. Returns how many do. */
static unsigned check(uint64_t start, uint64_t end, uint32_t count)
{
    struct block_run run = block_places_between(&places, start, end, count);
    unsigned overlapping = 0;

    CHECK(run.first <= run.end && run.end <= count);
    for (uint32_t i = 0; i < count; i++) {
        if (blocks[i].start >= end || blocks[i].end <= start)
            continue;
        overlapping++;
        CHECK(i >= run.first && i < run.end);
    }
    return overlapping;
}

static void blocks_anywhere_are_found(void)
{
    struct random random;
    unsigned overlapping = 0;

    random_init(&random, 7);
    begin();
    for (uint32_t i = 0; i < BLOCKS; i++) {
        add(i, 0x10000 * random_below(&random, 64) + random_below(&random, 0x10000), 1 + random_below(&random, 300));
        if (i % 7 == 0) {
            uint64_t start = random_below(&random, 0x400000);

            overlapping += check(start, start + 1 + random_below(&random, 0x20000), i + 1);
        }
    }
    CHECK(overlapping > 1000);
    block_places_deinit(&places);
}

static void where_there_is_no_code_there_is_no_block(void)
{
    struct block_run run;

    begin();
    for (uint32_t i = 0; i < BLOCKS; i++)
        add(i, 0x7f0000000000 + i * 64, 60);
    run = block_places_between(&places, 0x550000000000, 0x550000100000, BLOCKS);
    CHECK_EQUAL(run.first, run.end);
    run = block_places_between(&places, 0x7f0000000000, 0x7f0000000000, BLOCKS);
    CHECK_EQUAL(run.first, run.end);
    /* The last stretches alone, and not all that was translated before. */
    run = block_places_between(&places, 0x7f0000020000, 0x7f0000040000, BLOCKS);
    CHECK_EQUAL(run.end, BLOCKS);
    CHECK(run.first >= 1024);
    block_places_deinit(&places);
}

static void a_block_reaches_into_the_next_stretch(void)
{
    begin();
    add(0, 0x1fff0, 0x20);
    CHECK_EQUAL(check(0x20000, 0x21000, 1), 1);
    CHECK_EQUAL(check(0x2000f, 0x20010, 1), 1);
    CHECK_EQUAL(check(0x20010, 0x20011, 1), 0);
    block_places_deinit(&places);
}

static void all_of_memory_is_all_blocks(void)
{
    struct block_run run;

    begin();
    for (uint32_t i = 0; i < 10; i++)
        add(i, i * 0x100000, 10);
    run = block_places_between(&places, 0, UINT64_MAX, 10);
    CHECK_EQUAL(run.first, 0);
    CHECK_EQUAL(run.end, 10);
    block_places_deinit(&places);
}

static const struct check_case cases[] = {
    CHECK_CASE(blocks_anywhere_are_found),
    CHECK_CASE(where_there_is_no_code_there_is_no_block),
    CHECK_CASE(a_block_reaches_into_the_next_stretch),
    CHECK_CASE(all_of_memory_is_all_blocks),
};

CHECK_MAIN(cases)

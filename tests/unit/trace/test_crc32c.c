/* SPDX-License-Identifier: MIT */
#include "trace/crc32c.h"

#include "support/check.h"
#include "support/random.h"

/* RFC 3720, B.4, and the usual check value. */
static void known_values_are_found(void)
{
    uint8_t bytes[32];

    CHECK_EQUAL(crc32c(0, "123456789", 9), 0xe3069283);
    CHECK_EQUAL(crc32c_by_tables(0, "123456789", 9), 0xe3069283);
    memset(bytes, 0, sizeof(bytes));
    CHECK_EQUAL(crc32c(0, bytes, sizeof(bytes)), 0x8a9136aa);
    memset(bytes, 0xff, sizeof(bytes));
    CHECK_EQUAL(crc32c(0, bytes, sizeof(bytes)), 0x62a8ab43);
    for (uint8_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = i;
    CHECK_EQUAL(crc32c(0, bytes, sizeof(bytes)), 0x46dd794e);
    CHECK_EQUAL(crc32c_by_tables(0, bytes, sizeof(bytes)), 0x46dd794e);
    CHECK_EQUAL(crc32c(0, NULL, 0), 0);
}

static void both_ways_agree_at_every_size_and_alignment(void)
{
    uint8_t bytes[256];
    struct random random;

    random_init(&random, 1);
    random_fill(&random, bytes, sizeof(bytes));
    for (size_t at = 0; at < 16; at++)
        for (size_t size = 0; size + at <= sizeof(bytes); size++)
            CHECK_EQUAL(crc32c(size, bytes + at, size), crc32c_by_tables(size, bytes + at, size));
}

static void pieces_give_the_sum_of_the_whole(void)
{
    uint8_t bytes[100];
    struct random random;

    random_init(&random, 2);
    random_fill(&random, bytes, sizeof(bytes));
    for (size_t cut = 0; cut <= sizeof(bytes); cut++)
        CHECK_EQUAL(crc32c(crc32c(0, bytes, cut), bytes + cut, sizeof(bytes) - cut), crc32c(0, bytes, sizeof(bytes)));
}

static const struct check_case cases[] = {
    CHECK_CASE(known_values_are_found),
    CHECK_CASE(both_ways_agree_at_every_size_and_alignment),
    CHECK_CASE(pieces_give_the_sum_of_the_whole),
};

CHECK_MAIN(cases)

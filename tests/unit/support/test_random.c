/* SPDX-License-Identifier: MIT */
#include "support/random.h"

#include "support/check.h"

static void sequences_belong_to_their_seeds_for_ever(void)
{
    static const struct {
        uint64_t seed;
        uint64_t first[4];
    } known[] = {
        {0x0, {0x99ec5f36cb75f2b4, 0xbf6e1f784956452a, 0x1a5f849d4933e6e0, 0x6aa594f1262d2d2c}},
        {0x1, {0xb3f2af6d0fc710c5, 0x853b559647364cea, 0x92f89756082a4514, 0x642e1c7bc266a3a7}},
        {0x123456789abcdef, {0xa2c2a42038d4ec3d, 0x5fc25d0738e7b0f, 0x625e7bff938e701e, 0x1ba4ddc6fe2b5726}},
        {0xffffffffffffffff, {0x8f5520d52a7ead08, 0xc476a018caa1802d, 0x81de31c0d260469e, 0xbf658d7e065f3c2f}},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        struct random random;

        random_init(&random, known[i].seed);
        for (unsigned j = 0; j < 4; j++)
            CHECK_EQUAL(random_u64(&random), known[i].first[j]);
    }
}

static void derived_seeds_are_stable_and_differ(void)
{
    CHECK_EQUAL(random_seed_derive(1, 0), 0x5e41ab087439611e);
    CHECK_EQUAL(random_seed_derive(1, 1), 0xe9fd6049d65af21e);
    CHECK_EQUAL(random_seed_derive(2, 0), 0x64684c4f0fd784b4);
}

static void below_stays_below_and_reaches_both_ends(void)
{
    struct random random;
    unsigned seen = 0;

    random_init(&random, 5);
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t value = random_below(&random, 7);

        CHECK(value < 7);
        seen |= 1u << value;
    }
    CHECK_EQUAL(seen, 0x7f);
    CHECK_EQUAL(random_below(&random, 1), 0);
    CHECK_EQUAL(random_below(&random, 0), 0);
}

static void chance_is_about_what_was_asked_for(void)
{
    struct random random;
    unsigned hits = 0;

    random_init(&random, 6);
    for (unsigned i = 0; i < 10000; i++)
        hits += random_chance(&random, 1, 4);
    CHECK(hits > 2300 && hits < 2700);
    CHECK(!random_chance(&random, 0, 4));
    CHECK(random_chance(&random, 4, 4));
}

static void edges_include_the_limits_of_every_width(void)
{
    static const uint64_t wanted[] = {0, 0x7f, 0xff, 0x8000, 0xffffffff, 1ull << 63, ~0ull};
    struct random random;
    unsigned seen = 0;

    random_init(&random, 7);
    for (unsigned i = 0; i < 5000; i++) {
        uint64_t value = random_edge(&random);

        for (unsigned j = 0; j < 7; j++)
            seen |= (unsigned)(value == wanted[j]) << j;
    }
    CHECK_EQUAL(seen, 0x7f);
}

static void fill_writes_exactly_the_bytes_asked_for(void)
{
    struct random random, same;
    uint8_t bytes[16] = {0};

    random_init(&random, 8);
    random_init(&same, 8);
    random_fill(&random, bytes, 11);

    uint64_t words[2] = {random_u64(&same), random_u64(&same)};
    CHECK(memcmp(bytes, words, 11) == 0);
    CHECK(memcmp(bytes + 11, "\0\0\0\0\0", 5) == 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(sequences_belong_to_their_seeds_for_ever), CHECK_CASE(derived_seeds_are_stable_and_differ),
    CHECK_CASE(below_stays_below_and_reaches_both_ends),  CHECK_CASE(chance_is_about_what_was_asked_for),
    CHECK_CASE(edges_include_the_limits_of_every_width),  CHECK_CASE(fill_writes_exactly_the_bytes_asked_for),
};

CHECK_MAIN(cases)

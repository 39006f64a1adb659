/* SPDX-License-Identifier: MIT */
/* A test program has libc's functions, so ours are compiled once more here, under other names. */
#include "support/check.h"

#define memcpy  tested_memcpy
#define memmove tested_memmove
#define memset  tested_memset
#define memcmp  tested_memcmp
#include "base/memory_functions.c"
#undef memcpy
#undef memmove
#undef memset
#undef memcmp

#define SPACE  600
#define ROUNDS 20000

static uint8_t ours[SPACE], theirs[SPACE];

static void fill_both(void)
{
    for (size_t i = 0; i < SPACE; i++)
        ours[i] = theirs[i] = (uint8_t)rand();
}

static void copies_touch_exactly_their_bytes(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        size_t size = (size_t)rand() % (SPACE / 2), to = (size_t)rand() % (SPACE / 2 - size + 1);
        size_t from = SPACE / 2 + (size_t)rand() % (SPACE / 2 - size + 1);

        fill_both();
        CHECK(tested_memcpy(ours + to, ours + from, size) == ours + to);
        memcpy(theirs + to, theirs + from, size);
        CHECK(memcmp(ours, theirs, SPACE) == 0);
    }
}

static void moves_are_right_for_every_overlap(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        size_t size = (size_t)rand() % SPACE, to = (size_t)rand() % (SPACE - size);
        size_t from = (size_t)rand() % (SPACE - size);

        fill_both();
        CHECK(tested_memmove(ours + to, ours + from, size) == ours + to);
        memmove(theirs + to, theirs + from, size);
        CHECK(memcmp(ours, theirs, SPACE) == 0);
    }
}

static void fills_touch_exactly_their_bytes(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        size_t size = (size_t)rand() % SPACE, to = (size_t)rand() % (SPACE - size);
        int value = rand();

        fill_both();
        CHECK(tested_memset(ours + to, value, size) == ours + to);
        memset(theirs + to, value, size);
        CHECK(memcmp(ours, theirs, SPACE) == 0);
    }
}

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

static void comparison_is_by_the_first_different_byte(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        size_t size = (size_t)rand() % SPACE;

        fill_both();
        if (rand() % 4 != 0)
            theirs[rand() % SPACE] = (uint8_t)rand();
        if (rand() % 4 == 0)
            theirs[rand() % SPACE] = (uint8_t)rand();
        CHECK_EQUAL(sign(tested_memcmp(ours, theirs, size)), sign(memcmp(ours, theirs, size)));
    }
    CHECK(tested_memcmp("\x80", "\x7f", 1) > 0);
    CHECK_EQUAL(tested_memcmp("a", "b", 0), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(copies_touch_exactly_their_bytes),
    CHECK_CASE(moves_are_right_for_every_overlap),
    CHECK_CASE(fills_touch_exactly_their_bytes),
    CHECK_CASE(comparison_is_by_the_first_different_byte),
};

CHECK_MAIN(cases)

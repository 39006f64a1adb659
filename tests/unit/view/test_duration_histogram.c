/* SPDX-License-Identifier: MIT */
#include "view/duration_histogram.h"

#include "support/check.h"

#include <stdlib.h>

static void no_times_have_no_percentile(void)
{
    struct duration_histogram histogram = {.octave_count = 0};

    CHECK_EQUAL(duration_histogram_percentile(&histogram, 50), 0);
    duration_histogram_deinit(&histogram);
}

static void short_times_are_exact(void)
{
    struct duration_histogram histogram = {.octave_count = 0};

    for (uint64_t i = 0; i < 64; i++)
        CHECK_EQUAL(duration_histogram_add(&histogram, i), 0);
    for (uint64_t i = 1; i <= 64; i++)
        CHECK_EQUAL(duration_histogram_percentile(&histogram, 100.0 * (double)i / 64), i - 1);
    CHECK_EQUAL(duration_histogram_percentile(&histogram, 0), 0);
    duration_histogram_deinit(&histogram);
}

/* What is told of a time is not further from it than was promised, however long it is. */
static void no_time_is_wrong_by_more_than_a_sixtyfourth(void)
{
    for (uint64_t time = 1; time < UINT64_MAX / 3; time += 1 + time / 37) {
        struct duration_histogram histogram = {.octave_count = 0};
        uint64_t told;

        CHECK_EQUAL(duration_histogram_add(&histogram, time), 0);
        told = duration_histogram_percentile(&histogram, 50);
        CHECK((told > time ? told - time : time - told) <= time / 64);
        duration_histogram_deinit(&histogram);
    }
}

static void the_longest_time_there_is_can_be_counted(void)
{
    struct duration_histogram histogram = {.octave_count = 0};

    CHECK_EQUAL(duration_histogram_add(&histogram, UINT64_MAX), 0);
    CHECK_EQUAL(duration_histogram_add(&histogram, 0), 0);
    CHECK_EQUAL(duration_histogram_percentile(&histogram, 50), 0);
    CHECK(duration_histogram_percentile(&histogram, 99) > UINT64_MAX - UINT64_MAX / 64);
    duration_histogram_deinit(&histogram);
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* Against all times, sorted; in two halves that are put together. */
static void percentiles_are_those_of_all_times(void)
{
    static uint64_t times[10000];
    struct duration_histogram halves[2] = {{.octave_count = 0}, {.octave_count = 0}};
    uint64_t state = 1;

    for (size_t i = 0; i < 10000; i++) {
        state = state * 6364136223846793005ull + 1;
        times[i] = state >> (20 + state % 40);
        CHECK_EQUAL(duration_histogram_add(&halves[i % 2], times[i]), 0);
    }
    CHECK_EQUAL(duration_histogram_merge(&halves[0], &halves[1]), 0);
    qsort(times, 10000, sizeof(times[0]), compare);
    for (size_t percent = 1; percent <= 99; percent++) {
        uint64_t right = times[percent * 100 - 1], told = duration_histogram_percentile(&halves[0], (double)percent);

        CHECK((told > right ? told - right : right - told) <= right / 64);
    }
    duration_histogram_deinit(&halves[0]);
    duration_histogram_deinit(&halves[1]);
}

/* Times of nanoseconds and of hours at once take some KiB; those of a usual function much less. */
static void memory_grows_with_how_far_times_are_apart(void)
{
    struct duration_histogram histogram = {.octave_count = 0};

    for (uint64_t i = 0; i < 100000; i++)
        CHECK_EQUAL(duration_histogram_add(&histogram, 1000 + i % 1000), 0);
    CHECK_EQUAL(histogram.octave_count, 2);
    CHECK_EQUAL(duration_histogram_add(&histogram, 10), 0);
    CHECK_EQUAL(duration_histogram_add(&histogram, 10000000000000), 0);
    CHECK(histogram.octave_count < 48);
    CHECK_EQUAL(duration_histogram_percentile(&histogram, 0.0001), 10);
    duration_histogram_deinit(&histogram);
}

static const struct check_case cases[] = {
    CHECK_CASE(no_times_have_no_percentile),
    CHECK_CASE(short_times_are_exact),
    CHECK_CASE(no_time_is_wrong_by_more_than_a_sixtyfourth),
    CHECK_CASE(the_longest_time_there_is_can_be_counted),
    CHECK_CASE(percentiles_are_those_of_all_times),
    CHECK_CASE(memory_grows_with_how_far_times_are_apart),
};

CHECK_MAIN(cases)

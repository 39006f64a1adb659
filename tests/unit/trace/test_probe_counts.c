/* SPDX-License-Identifier: MIT */
#include "trace/probe_counts.h"

#include "support/check.h"

static void add(struct probe_counts *counts, uint64_t number, uint64_t time, const char *values)
{
    const struct detail_probe probe = {.record = {.time = time}, .probe = number};

    probe_counts_add(counts, &probe, (struct detail_values){(const uint8_t *)values, (uint32_t)strlen(values)});
}

static void probes_are_counted_by_their_numbers(void)
{
    struct probe_counts counts = {.count = 0};

    add(&counts, 7, 100, "abc");
    add(&counts, 2, 50, "x");
    add(&counts, 7, 300, "last one");
    /* Threads are read one after the other. */
    add(&counts, 7, 20, "early");
    add(&counts, UINT64_MAX, 1, "");
    probe_counts_sort(&counts);
    CHECK_EQUAL(counts.count, 3);
    CHECK_EQUAL(counts.result, 0);
    CHECK_EQUAL(counts.counts[0].probe, 7);
    CHECK_EQUAL(counts.counts[0].times, 3);
    CHECK_EQUAL(counts.counts[0].first_time, 20);
    CHECK_EQUAL(counts.counts[0].last_time, 300);
    CHECK_EQUAL(counts.counts[0].last_bytes, 8);
    CHECK(memcmp(counts.counts[0].last_values, "last one", 8) == 0);
    CHECK_EQUAL(counts.counts[1].probe, 2);
    CHECK_EQUAL(counts.counts[2].probe, UINT64_MAX);
    probe_counts_deinit(&counts);
    CHECK_EQUAL(counts.count, 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(probes_are_counted_by_their_numbers),
};

CHECK_MAIN(cases)

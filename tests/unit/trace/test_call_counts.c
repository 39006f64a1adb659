/* SPDX-License-Identifier: MIT */
#include "trace/call_counts.h"

#include "support/check.h"

static struct module list[] = {
    {.start = 0x1000, .end = 0x2000, .loaded = 10, .unloaded = 20, .path = "a"},
    {.start = 0x1000, .end = 0x2000, .loaded = 30, .unloaded = UINT64_MAX, .path = "b"},
};
static const struct modules modules = {.modules = list, .count = 2};

static void calls_are_counted_by_address_and_module(void)
{
    struct call_counts counts;

    CHECK_EQUAL(call_counts_init(&counts, &modules), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(call_counts_add(&counts, 0x1500, 35, 35), 0);
        CHECK_EQUAL(call_counts_add(&counts, 0x1500, 15, 15), 0);
    }
    CHECK_EQUAL(call_counts_add(&counts, 0x1500, 15, 15), 0);
    CHECK_EQUAL(call_counts_add(&counts, 0x1500, 25, 25), 0);
    CHECK_EQUAL(call_counts_add(&counts, 0x9000, 15, 15), 0);
    CHECK_EQUAL(call_counts_add(&counts, 0x9000, 35, 35), 0);
    CHECK_EQUAL(counts.count, 4);
    call_counts_sort(&counts);
    CHECK_EQUAL(counts.counts[0].calls, 4);
    CHECK(counts.counts[0].module == &list[0]);
    CHECK_EQUAL(counts.counts[1].calls, 3);
    CHECK(counts.counts[1].module == &list[1]);
    CHECK_EQUAL(counts.counts[2].address, 0x9000);
    CHECK_EQUAL(counts.counts[2].calls, 2);
    CHECK(counts.counts[2].module == NULL);
    CHECK_EQUAL(counts.counts[3].calls, 1);
    call_counts_deinit(&counts);
}

static void many_addresses_are_kept_apart(void)
{
    struct call_counts counts;

    CHECK_EQUAL(call_counts_init(&counts, &modules), 0);
    for (uint64_t round = 0; round < 3; round++)
        for (uint64_t address = 0; address < 5000; address++)
            CHECK_EQUAL(call_counts_add(&counts, address, 15, 15), 0);
    CHECK_EQUAL(counts.count, 5000);
    for (size_t i = 0; i < counts.count; i++)
        CHECK_EQUAL(counts.counts[i].calls, 3);
    call_counts_deinit(&counts);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_are_counted_by_address_and_module),
    CHECK_CASE(many_addresses_are_kept_apart),
};

CHECK_MAIN(cases)

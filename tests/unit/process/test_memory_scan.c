/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "process/memory_scan.h"

#include "process/memory_pattern.h"
#include "support/check.h"
#include "support/random.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#define PAGE         4096u
#define AREA_BYTES   (1u << 20)
#define FOUND_MAX    64u
#define AROUND_BYTES (64u << 20)

static uint64_t found[FOUND_MAX];
static unsigned found_count, wanted_count = FOUND_MAX;

static bool take(void *context, uint64_t address)
{
    CHECK(context == found);
    if (found_count < FOUND_MAX)
        found[found_count] = address;
    return ++found_count < wanted_count;
}

static int scan(const struct memory_pattern *pattern, const void *start, size_t size_bytes)
{
    found_count = 0;
    return memory_scan(pattern, (uintptr_t)start, (uintptr_t)start + size_bytes, take, found);
}

static uint8_t *map_area(void)
{
    return mmap(NULL, AREA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static const uint8_t mark[] = {0xde, 0xad, 0xbe, 0xef, 0x13, 0x37};

static void all_places_are_found_in_order(void)
{
    /* At the ends, across pages, across the windows that the scan looks through, and one into the other. */
    static const size_t places[] = {
        0, PAGE - 3, 2 * PAGE, 262144 - 2, 262144 + 100, 524288 - 8, AREA_BYTES - sizeof(mark)};
    uint8_t *area = map_area();
    struct memory_pattern pattern;

    CHECK_EQUAL(memory_pattern_of_bytes(mark, sizeof(mark), &pattern), 0);
    for (unsigned i = 0; i < 7; i++)
        memcpy(area + places[i], mark, sizeof(mark));
    CHECK_EQUAL(scan(&pattern, area, AREA_BYTES), 0);
    CHECK_EQUAL(found_count, 7);
    for (unsigned i = 0; i < 7; i++)
        CHECK_EQUAL(found[i], (uintptr_t)area + places[i]);
    /* Only whole ones within the range. */
    CHECK_EQUAL(scan(&pattern, area + 1, AREA_BYTES - 2), 0);
    CHECK_EQUAL(found_count, 5);
    CHECK_EQUAL(scan(&pattern, area, sizeof(mark) - 1), 0);
    CHECK_EQUAL(found_count, 0);
    wanted_count = 2;
    CHECK_EQUAL(scan(&pattern, area, AREA_BYTES), 0);
    CHECK_EQUAL(found_count, 2);
    wanted_count = FOUND_MAX;
    CHECK_EQUAL(scan(&pattern, area, 0), -EINVAL);
    munmap(area, AREA_BYTES);
}

static void overlapping_ones_are_all_found(void)
{
    uint8_t *area = map_area();
    struct memory_pattern pattern;

    CHECK_EQUAL(memory_pattern_parse("aa ?? aa", 8, &pattern), 0);
    memset(area + 100, 0xaa, 6);
    CHECK_EQUAL(scan(&pattern, area, AREA_BYTES), 0);
    CHECK_EQUAL(found_count, 4);
    munmap(area, AREA_BYTES);
}

static void what_cannot_be_read_is_passed_over(void)
{
    uint8_t *area = map_area();
    struct memory_pattern pattern;

    CHECK_EQUAL(memory_pattern_of_bytes(mark, sizeof(mark), &pattern), 0);
    memcpy(area + 5 * PAGE - sizeof(mark), mark, sizeof(mark));
    memcpy(area + 5 * PAGE + 10, mark, sizeof(mark));
    memcpy(area + 6 * PAGE, mark, sizeof(mark));
    /* Half of one before a hole, and the other half behind it. */
    memcpy(area + 10 * PAGE - 3, mark, 3);
    memcpy(area + 11 * PAGE, mark + 3, 3);
    CHECK_EQUAL(mprotect(area + 5 * PAGE, PAGE, PROT_NONE), 0);
    CHECK_EQUAL(munmap(area + 10 * PAGE, PAGE), 0);
    CHECK_EQUAL(scan(&pattern, area, AREA_BYTES), 0);
    CHECK_EQUAL(found_count, 2);
    CHECK_EQUAL(found[0], (uintptr_t)area + 5 * PAGE - sizeof(mark));
    CHECK_EQUAL(found[1], (uintptr_t)area + 6 * PAGE);
    munmap(area, AREA_BYTES);
}

static void the_scan_does_not_find_itself(void)
{
    uint8_t *area = map_area();
    uint8_t bytes[32];
    struct memory_pattern pattern;
    struct random random;
    unsigned in_area = 0;

    random_init(&random, 99);
    random_fill(&random, bytes, sizeof(bytes));
    CHECK_EQUAL(memory_pattern_of_bytes(bytes, sizeof(bytes), &pattern), 0);
    memcpy(area + 12345, bytes, sizeof(bytes));
    /* All around, where the scan has its own memory; sanitizers have terabytes elsewhere. */
    CHECK_EQUAL(scan(&pattern, area - AROUND_BYTES, 2 * AROUND_BYTES), 0);
    for (unsigned i = 0; i < found_count; i++)
        in_area += found[i] == (uintptr_t)area + 12345;
    CHECK_EQUAL(in_area, 1);
    CHECK_EQUAL(found_count, 1);
    munmap(area, AREA_BYTES);
}

static _Atomic bool is_over;

static void *replace_memory(void *context)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;

    /* Never a hole: somebody else might get it. */
    while (!is_over) {
        (void)!mmap(context, AREA_BYTES / 2, PROT_NONE, flags, -1, 0);
        (void)!mmap(context, AREA_BYTES / 2, PROT_READ | PROT_WRITE, flags, -1, 0);
    }
    return NULL;
}

static void memory_that_goes_meanwhile_does_no_harm(void)
{
    uint8_t *area = map_area();
    struct memory_pattern pattern;
    pthread_t thread;

    CHECK_EQUAL(memory_pattern_of_bytes(mark, sizeof(mark), &pattern), 0);
    memcpy(area + AREA_BYTES - PAGE, mark, sizeof(mark));
    is_over = false;
    CHECK_EQUAL(pthread_create(&thread, NULL, replace_memory, area), 0);
    for (unsigned i = 0; i < 200; i++) {
        CHECK_EQUAL(scan(&pattern, area, AREA_BYTES), 0);
        CHECK_EQUAL(found_count, 1);
    }
    is_over = true;
    pthread_join(thread, NULL);
    munmap(area, AREA_BYTES);
}

static const struct check_case cases[] = {
    CHECK_CASE(all_places_are_found_in_order),           CHECK_CASE(overlapping_ones_are_all_found),
    CHECK_CASE(what_cannot_be_read_is_passed_over),      CHECK_CASE(the_scan_does_not_find_itself),
    CHECK_CASE(memory_that_goes_meanwhile_does_no_harm),
};

CHECK_MAIN(cases)

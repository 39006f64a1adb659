/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "process/memory_probe.h"

#include "support/check.h"

#include <errno.h>
#include <sys/mman.h>

#define PAGE 4096u

/* Three pages, of which the second cannot be read. */
static uint8_t *make_hole(void)
{
    uint8_t *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    memset(pages, 7, 3 * PAGE);
    mprotect(pages + PAGE, PAGE, PROT_NONE);
    return pages;
}

static void memory_that_is_there_is_told_from_what_is_not(void)
{
    uint8_t *pages = make_hole();
    uint64_t start = (uintptr_t)pages;

    CHECK(memory_probe(start));
    CHECK(memory_probe(start + PAGE - 8));
    CHECK(!memory_probe(start + PAGE - 4));
    CHECK(!memory_probe(start + PAGE));
    CHECK(!memory_probe(start + 2 * PAGE - 8));
    CHECK(memory_probe(start + 2 * PAGE));
    munmap(pages, 3 * PAGE);
    CHECK(!memory_probe(start));
    CHECK(!memory_probe(0));
    CHECK(!memory_probe(UINT64_MAX - 3));
    CHECK(!memory_probe((uint64_t)1 << 63));
}

static void whole_ranges_are_copied_or_nothing_is_said(void)
{
    uint8_t *pages = make_hole(), bytes[64] = {0};
    uint64_t start = (uintptr_t)pages;

    pages[PAGE - 1] = 9;
    CHECK_EQUAL(memory_probe_copy(start + PAGE - 64, bytes, 64), 0);
    CHECK_EQUAL(bytes[0], 7);
    CHECK_EQUAL(bytes[63], 9);
    CHECK_EQUAL(memory_probe_copy(start + PAGE - 63, bytes, 64), -EFAULT);
    CHECK_EQUAL(memory_probe_copy(start + PAGE, bytes, 1), -EFAULT);
    CHECK_EQUAL(memory_probe_copy(0, bytes, 1), -EFAULT);
    CHECK_EQUAL(memory_probe_copy(UINT64_MAX - 3, bytes, 64), -EFAULT);
    CHECK_EQUAL(memory_probe_copy(0, bytes, 0), 0);
    munmap(pages, 3 * PAGE);
}

static void copies_end_where_memory_does(void)
{
    static uint8_t bytes[4 * PAGE];
    uint8_t *pages = make_hole();
    uint64_t start = (uintptr_t)pages;

    CHECK_EQUAL(memory_probe_copy_some(start + 100, bytes, sizeof(bytes)), PAGE - 100);
    CHECK_EQUAL(bytes[PAGE - 101], 7);
    CHECK_EQUAL(memory_probe_copy_some(start + PAGE, bytes, 10), 0);
    CHECK_EQUAL(memory_probe_copy_some(start + 2 * PAGE - 1, bytes, 10), 0);
    CHECK_EQUAL(memory_probe_copy_some(start + 2 * PAGE, bytes, 10), 10);
    munmap(pages, 3 * PAGE);
}

static void writes_fail_where_memory_may_not_be_written(void)
{
    uint8_t *pages = make_hole();
    uint64_t start = (uintptr_t)pages;

    CHECK_EQUAL(memory_probe_write(start + 10, "abc", 3), 0);
    CHECK(memcmp(pages + 9, "\7abc\7", 5) == 0);
    CHECK_EQUAL(memory_probe_write(start + PAGE, "abc", 3), -EFAULT);
    CHECK_EQUAL(memory_probe_write(start + PAGE - 1, "abc", 3), -EFAULT);
    mprotect(pages + 2 * PAGE, PAGE, PROT_READ);
    CHECK_EQUAL(memory_probe_write(start + 2 * PAGE, "abc", 3), -EFAULT);
    CHECK_EQUAL(pages[2 * PAGE], 7);
    CHECK_EQUAL(memory_probe_write(0, "abc", 3), -EFAULT);
    CHECK_EQUAL(memory_probe_write(UINT64_MAX, "abc", 3), -EFAULT);
    CHECK_EQUAL(memory_probe_write(0, "", 0), 0);
    munmap(pages, 3 * PAGE);
}

static const struct check_case cases[] = {
    CHECK_CASE(memory_that_is_there_is_told_from_what_is_not),
    CHECK_CASE(whole_ranges_are_copied_or_nothing_is_said),
    CHECK_CASE(copies_end_where_memory_does),
    CHECK_CASE(writes_fail_where_memory_may_not_be_written),
};

CHECK_MAIN(cases)

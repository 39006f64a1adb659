/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/memory_area.h"

#include "base/memory_map.h"
#include "support/check.h"

#include <sys/mman.h>

#define PAGE 4096u

static void nothing_is_taken_twice(void)
{
    uint64_t one = memory_area_take(3 * PAGE), other = memory_area_take(PAGE);

    CHECK_EQUAL(other, one + 3 * PAGE);
    CHECK(memory_area_overlaps(one, one + 1));
    CHECK(memory_area_overlaps(one - PAGE, other + PAGE));
    CHECK(memory_area_overlaps(other + PAGE - 1, other + PAGE));
    CHECK(!memory_area_overlaps(other + PAGE, other + 2 * PAGE));
    CHECK(!memory_area_overlaps((uintptr_t)&one, (uintptr_t)(&one + 1)));
}

/* What a program does that wants memory at a multiple of something: it looks for room, gives it back and takes a part.
 */
static void holes_of_the_program_stay_free(void)
{
    for (unsigned i = 0; i < 100; i++) {
        char *found = mmap(NULL, 64 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        void *ours;

        munmap(found, 64 * PAGE);
        CHECK_EQUAL(memory_map((1 + i % 60) * PAGE, &ours), 0);
        CHECK((char *)ours >= found + 64 * PAGE || (char *)ours + (1 + i % 60) * PAGE <= found);
        CHECK(memory_area_overlaps((uintptr_t)ours, (uintptr_t)ours + 1));
        memory_unmap(ours, (1 + i % 60) * PAGE);
    }
}

static void it_begins_anew_when_it_is_full(void)
{
    uint64_t first = memory_area_take(PAGE), most = 4ull << 30, last = first;
    void *ours;

    for (unsigned i = 0; i < 100 && last >= first; i++)
        last = memory_area_take(most);
    CHECK(last < first);
    CHECK(last != 0);
    CHECK(memory_area_overlaps(first, first + 1));
    CHECK_EQUAL(memory_area_take(1ull << 60), 0);
    CHECK_EQUAL(memory_map(PAGE, &ours), 0);
    memory_unmap(ours, PAGE);
}

/* Reservations for what may become a lot would use up the area. */
static void huge_memory_is_elsewhere_and_known(void)
{
    uint64_t huge = 256ull << 30, start;
    void *first, *second;

    CHECK_EQUAL(memory_reserve(huge, &first), 0);
    CHECK_EQUAL(memory_reserve(huge, &second), 0);
    for (unsigned i = 0; i < 2; i++) {
        start = (uintptr_t)(i == 0 ? first : second);
        CHECK(!memory_area_holds(start));
        CHECK(memory_area_overlaps(start, start + 1));
        CHECK(memory_area_overlaps(start + huge - 1, start + huge));
        CHECK(!memory_area_overlaps(start - 1, start));
    }
    memory_unmap(first, huge);
    memory_unmap(second, huge);
    CHECK(!memory_area_overlaps((uintptr_t)first, (uintptr_t)first + huge));
}

/* The next place is taken already, by somebody else. */
static void what_is_in_use_is_passed_over(void)
{
    uint64_t next = memory_area_take(PAGE) + PAGE;
    void *others = mmap((void *)next, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0), *ours;

    CHECK_EQUAL((uintptr_t)others, next);
    CHECK_EQUAL(memory_map(PAGE, &ours), 0);
    CHECK(memory_area_holds((uintptr_t)ours));
    CHECK((uintptr_t)ours != next);
    memory_unmap(ours, PAGE);
    munmap(others, PAGE);
}

static void what_has_to_be_elsewhere_is_known(void)
{
    void *near[3];
    uint64_t first;

    for (unsigned i = 0; i < 3; i++)
        CHECK_EQUAL(memory_map_near((uintptr_t)&near, 2 * PAGE, MEMORY_READ_WRITE, &near[i]), 0);
    memory_unmap(near[1], 2 * PAGE);
    first = (uintptr_t)near[0];
    CHECK(memory_area_overlaps(first, first + 1));
    CHECK(memory_area_overlaps(first - PAGE, first + 5 * PAGE));
    CHECK(memory_area_overlaps(first + 2 * PAGE - 1, first + 2 * PAGE));
    CHECK(!memory_area_overlaps((uintptr_t)near[1], (uintptr_t)near[1] + 1));
    CHECK(memory_area_overlaps((uintptr_t)near[2], (uintptr_t)near[2] + 1));
    memory_unmap(near[0], 2 * PAGE);
    memory_unmap(near[2], 2 * PAGE);
    CHECK(!memory_area_overlaps(first, first + 1));
    for (unsigned i = 1; i <= 1000; i++)
        memory_area_note(i * 2 * PAGE, PAGE);
    CHECK(memory_area_overlaps(2 * PAGE, 3 * PAGE));
    CHECK(!memory_area_overlaps(3 * PAGE, 4 * PAGE));
    for (unsigned i = 1; i <= 1000; i++)
        memory_area_forget(i * 2 * PAGE);
    CHECK(!memory_area_overlaps(0, 3000 * PAGE));
}

static const struct check_case cases[] = {
    CHECK_CASE(nothing_is_taken_twice),
    CHECK_CASE(holes_of_the_program_stay_free),
    CHECK_CASE(huge_memory_is_elsewhere_and_known),
    CHECK_CASE(what_is_in_use_is_passed_over),
    CHECK_CASE(what_has_to_be_elsewhere_is_known),
    CHECK_CASE(it_begins_anew_when_it_is_full),
};

CHECK_MAIN(cases)

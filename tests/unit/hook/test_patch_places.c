/* SPDX-License-Identifier: MIT */
/* Bytes that change together: sorted, compared, written, and brought back when one cannot be. */
#define _GNU_SOURCE
#include "hook/patch_places.h"

#include "process/forced_memory.h"
#include "support/check.h"

#include <errno.h>
#include <sys/mman.h>

#define PAGES  64
#define PLACES 1500

static struct forced_memory memory;
static struct patch_places places;
static uint8_t *pages;

static void begin(void)
{
    pages = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK_EQUAL(forced_memory_init(&memory), 0);
    patch_places_init(&places);
}

static void end(void)
{
    patch_places_deinit(&places);
    forced_memory_deinit(&memory);
    munmap(pages, PAGES * 4096);
}

static void add_place(size_t offset)
{
    struct patch_place place = {.address = (uintptr_t)pages + offset, .size_bytes = 5};

    memcpy(place.before, pages + offset, 5);
    memset(place.after, 0xe9, 5);
    CHECK_EQUAL(patch_places_reserve(&places, places.count + 1), 0);
    patch_places_add(&places, &place);
}

/* In an order of its own, never two of the same bytes. */
static void add_many(void)
{
    for (size_t i = 0; i < PAGES * 4096; i++)
        pages[i] = (uint8_t)(i * 7 + i / 256);
    for (size_t i = 0; i < PLACES; i++)
        add_place(i * 619 % PLACES * 160 + 3);
    CHECK_EQUAL(patch_places_sort(&places), 0);
    for (size_t i = 1; i < PLACES; i++)
        CHECK(places.places[i - 1].address < places.places[i].address);
}

static size_t count_changed(void)
{
    size_t count = 0;

    for (size_t i = 0; i < PAGES * 4096; i++)
        count += pages[i] != (uint8_t)(i * 7 + i / 256);
    return count;
}

static void all_places_are_written_and_nothing_else(void)
{
    begin();
    add_many();
    CHECK_EQUAL(patch_places_check(&places, &memory), 0);
    CHECK_EQUAL(count_changed(), 0);
    CHECK_EQUAL(patch_places_write(&places, &memory), 0);
    for (size_t i = 0; i < PLACES; i++)
        CHECK(memcmp((void *)(uintptr_t)places.places[i].address, "\xe9\xe9\xe9\xe9\xe9", 5) == 0);
    CHECK(count_changed() <= PLACES * 5);
    CHECK_EQUAL(patch_places_check(&places, &memory), -ESTALE);
    CHECK_EQUAL(patch_places_undo(&places, &memory), 0);
    CHECK_EQUAL(count_changed(), 0);
    end();
}

static void one_that_is_not_as_expected_leaves_all_as_they_were(void)
{
    begin();
    add_many();
    pages[PLACES / 2 * 160 + 3] ^= 1;
    CHECK_EQUAL(patch_places_write(&places, &memory), -ESTALE);
    CHECK_EQUAL(count_changed(), 1);
    end();
}

static void one_that_is_gone_leaves_all_as_they_were(void)
{
    begin();
    add_many();
    munmap(pages + (PAGES - 8) * 4096, 4096);
    CHECK_EQUAL(patch_places_write(&places, &memory), -EFAULT);
    CHECK_EQUAL(mmap(pages + (PAGES - 8) * 4096, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                     -1, 0) == MAP_FAILED,
                0);
    for (size_t i = (PAGES - 8) * 4096; i < (PAGES - 7) * 4096; i++)
        pages[i] = (uint8_t)(i * 7 + i / 256);
    CHECK_EQUAL(count_changed(), 0);
    end();
}

static void places_are_found_by_what_is_behind_them(void)
{
    begin();
    add_place(100);
    add_place(50);
    CHECK_EQUAL(patch_places_sort(&places), 0);
    CHECK(patch_places_find(&places, (uintptr_t)pages + 49) == NULL);
    CHECK(patch_places_find(&places, (uintptr_t)pages + 50) == &places.places[0]);
    CHECK(patch_places_find(&places, (uintptr_t)pages + 99) == &places.places[0]);
    CHECK(patch_places_find(&places, UINT64_MAX) == &places.places[1]);
    add_place(104);
    CHECK_EQUAL(patch_places_sort(&places), -EEXIST);
    end();
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(all_places_are_written_and_nothing_else),
        CHECK_CASE(one_that_is_not_as_expected_leaves_all_as_they_were),
        CHECK_CASE(one_that_is_gone_leaves_all_as_they_were),
        CHECK_CASE(places_are_found_by_what_is_behind_them),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}

/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "process/mapping_list.h"

#include "base/memory_map.h"
#include "support/check.h"

#include <limits.h>
#include <sys/mman.h>
#include <unistd.h>

static struct mapping seen[8];
static size_t seen_count;
static uint64_t last_end;

static void keep(void *context, const struct mapping *mapping)
{
    CHECK(context == &seen);
    if (seen_count < sizeof(seen) / sizeof(seen[0]))
        seen[seen_count] = *mapping;
    seen_count++;
}

static void look_at(uint64_t start, uint64_t end)
{
    seen_count = 0;
    CHECK_EQUAL(mapping_list_visit(start, end, keep, &seen), 0);
}

static void our_own_code_is_found_with_its_file(void)
{
    uint64_t here = (uintptr_t)our_own_code_is_found_with_its_file;
    char path[PATH_MAX] = "";

    CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
    look_at(here, here + 1);
    CHECK_EQUAL(seen_count, 1);
    CHECK(seen[0].start <= here && here < seen[0].end);
    CHECK(seen[0].is_executable);
    CHECK_EQUAL(seen[0].path_length, strlen(path));
    CHECK(memcmp(seen[0].path, path, strlen(path)) == 0);
}

static void ranges_end_where_they_end(void)
{
    uint8_t *pages = mmap(NULL, 4 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t start = (uintptr_t)pages;

    CHECK_EQUAL(mprotect(pages + 4096, 4096, PROT_READ | PROT_EXEC), 0);
    CHECK_EQUAL(mprotect(pages + 8192, 4096, PROT_NONE), 0);
    look_at(start + 4096, start + 8192);
    CHECK_EQUAL(seen_count, 1);
    CHECK_EQUAL(seen[0].start, start + 4096);
    CHECK_EQUAL(seen[0].end, start + 8192);
    CHECK(seen[0].is_executable);
    CHECK_EQUAL(seen[0].path_length, 0);
    look_at(start + 4096, start + 8193);
    CHECK_EQUAL(seen_count, 2);
    CHECK(!seen[1].is_executable);
    munmap(pages, 4 * 4096);
    look_at(start + 4096, start + 8192);
    CHECK_EQUAL(seen_count, 0);
}

static void access_is_told(void)
{
    static const struct {
        int protection;
        unsigned access;
    } kinds[] = {
        {PROT_NONE, MEMORY_NO_ACCESS},
        {PROT_READ, MEMORY_READ},
        {PROT_READ | PROT_WRITE, MEMORY_READ_WRITE},
        {PROT_READ | PROT_EXEC, MEMORY_READ_EXECUTE},
    };

    for (unsigned i = 0; i < 8; i++) {
        bool is_shared = i >= 4;
        void *page =
            mmap(NULL, 4096, kinds[i % 4].protection, MAP_ANONYMOUS | (is_shared ? MAP_SHARED : MAP_PRIVATE), -1, 0);

        look_at((uintptr_t)page, (uintptr_t)page + 1);
        CHECK_EQUAL(seen_count, 1);
        CHECK_EQUAL(mapping_access(&seen[0]), kinds[i % 4].access);
        CHECK_EQUAL(seen[0].is_shared, is_shared);
        munmap(page, 4096);
    }
}

static void check_order(void *context, const struct mapping *mapping)
{
    (void)context;
    CHECK(mapping->start >= last_end && mapping->end > mapping->start);
    last_end = mapping->end;
    seen_count++;
}

static void all_come_in_their_order(void)
{
    seen_count = 0;
    last_end = 0;
    CHECK_EQUAL(mapping_list_visit(0, UINT64_MAX, check_order, NULL), 0);
    CHECK(seen_count > 10);
}

static void what_is_ours_has_no_file(void)
{
    uint64_t here = (uintptr_t)what_is_ours_has_no_file;
    struct memory_range own;

    look_at(here, here + 1);
    CHECK(seen[0].path_length > 0);
    own = (struct memory_range){seen[0].start, seen[0].end};
    mapping_list_set_own(own);
    look_at(here, here + 1);
    CHECK_EQUAL(seen_count, 1);
    CHECK_EQUAL(seen[0].start, own.low);
    CHECK_EQUAL(seen[0].path_length, 0);
    CHECK_EQUAL(seen[0].file_offset, 0);
    CHECK(seen[0].is_executable);
    /* What is only partly in it is not. */
    mapping_list_set_own((struct memory_range){own.low + 1, own.high});
    look_at(here, here + 1);
    CHECK(seen[0].path_length > 0);
    mapping_list_set_own((struct memory_range){0, 0});
}

static const struct check_case cases[] = {
    CHECK_CASE(our_own_code_is_found_with_its_file),
    CHECK_CASE(ranges_end_where_they_end),
    CHECK_CASE(access_is_told),
    CHECK_CASE(all_come_in_their_order),
    CHECK_CASE(what_is_ours_has_no_file),
};

CHECK_MAIN(cases)

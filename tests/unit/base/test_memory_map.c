/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/memory_map.h"

#include "base/memory_file.h"
#include "support/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB (1024ull * 1024)
#define GIB (1024 * MIB)

static bool is_mapped(const void *start)
{
    unsigned char resident;
    uintptr_t page = (uintptr_t)start & ~(memory_page_size() - 1);

    return mincore((void *)page, 1, &resident) == 0;
}

static void page_size_is_the_systems(void)
{
    CHECK_EQUAL(memory_page_size(), sysconf(_SC_PAGESIZE));
    CHECK(memory_page_size() >= MEMORY_PAGE_MIN && memory_page_size() <= MEMORY_PAGE_MAX);
    CHECK_EQUAL(memory_round_to_pages(0), 0);
    CHECK_EQUAL(memory_round_to_pages(1), memory_page_size());
    CHECK_EQUAL(memory_round_to_pages(memory_page_size()), memory_page_size());
    CHECK_EQUAL(memory_round_to_pages(SIZE_MAX), 0);
}

static void mapped_memory_is_zeroed_writable_and_goes_away(void)
{
    void *start = NULL;
    uint8_t *bytes;

    CHECK_EQUAL(memory_map(100000, &start), 0);
    bytes = start;
    CHECK_EQUAL(bytes[0], 0);
    CHECK_EQUAL(bytes[99999], 0);
    bytes[99999] = 7;
    CHECK_EQUAL(bytes[99999], 7);
    memory_unmap(start, 100000);
    CHECK(!is_mapped(bytes));
    CHECK(!is_mapped(bytes + 99999));
    memory_unmap(NULL, 1);
}

static void sizes_that_cannot_be_are_refused(void)
{
    void *start = &start;

    CHECK_EQUAL(memory_map(0, &start), -EINVAL);
    CHECK_EQUAL(memory_map(SIZE_MAX, &start), -EINVAL);
    CHECK_EQUAL(memory_map(1ull << 60, &start), -ENOMEM);
    CHECK_EQUAL(memory_map_aligned(SIZE_MAX - 2 * MIB, 1ull << 63, &start), -EINVAL);
    CHECK_EQUAL(memory_map_near((uintptr_t)&start, 0, MEMORY_READ, &start), -EINVAL);
    CHECK(start == (void *)&start);
}

static void aligned_memory_is_aligned_and_keeps_nothing_around_it(void)
{
    for (size_t alignment = 1; alignment <= 4 * MIB; alignment *= 2) {
        void *start = NULL;
        size_t size = 3 * memory_page_size();

        CHECK_EQUAL(memory_map_aligned(size, alignment, &start), 0);
        CHECK_EQUAL((uintptr_t)start % alignment, 0);
        memset(start, 1, size);
        memory_unmap(start, size);
        CHECK(!is_mapped(start));
    }
}

static void reserved_addresses_have_no_memory_until_they_are_protected(void)
{
    void *start = NULL;
    uint8_t *second;

    CHECK_EQUAL(memory_reserve(GIB, &start), 0);
    second = (uint8_t *)start + memory_page_size();
    CHECK_EQUAL(memory_protect(second, memory_page_size(), MEMORY_READ_WRITE), 0);
    *second = 9;
    CHECK_EQUAL(*second, 9);
    CHECK_EQUAL(memory_protect(second + 1, 1, MEMORY_READ), -EINVAL);
    memory_unmap(start, GIB);
}

/* How many of the first pages are present, one behind the other. */
static size_t present_pages(void *start, size_t count)
{
    unsigned char present[64] = {0};
    size_t found = 0;

    CHECK_EQUAL(mincore(start, count * memory_page_size(), present), 0);
    while (found < count && present[found] & 1)
        found++;
    return found;
}

static bool system_populates(void)
{
    size_t page = memory_page_size();
    void *start;
    bool does;

    CHECK_EQUAL(memory_map(page, &start), 0);
    memory_populate(start, page);
    does = present_pages(start, 1) == 1;
    memory_unmap(start, page);
    return does;
}

static void memory_is_populated_as_far_as_it_is_needed_and_not_much_further(void)
{
    size_t page = memory_page_size(), size = 64 * page, present = 0;
    void *start;

    if (!system_populates())
        return;
    CHECK_EQUAL(memory_map(size, &start), 0);
    for (size_t needed = 1; needed <= size; needed += page / 2) {
        size_t before = present, pages = (needed + page - 1) / page;

        memory_populate_ahead(start, size, needed, &present);
        CHECK(present >= needed && present <= size && (needed > before) == (present > before));
        CHECK_EQUAL(present_pages(start, 64), present / page);
        CHECK(present / page < pages + 16);
    }
    memory_populate_ahead(start, size, size, &present);
    CHECK_EQUAL(present, size);
    for (size_t i = 0; i < size; i++)
        if (((uint8_t *)start)[i] != 0)
            CHECK_EQUAL(((uint8_t *)start)[i], 0);
    memory_unmap(start, size);
}

static void near_memory_is_within_reach_both_ways(void)
{
    uint64_t anchors[] = {(uintptr_t)&near_memory_is_within_reach_both_ways, (uintptr_t)&memory_map,
                          (uintptr_t)&printf};

    for (size_t i = 0; i < sizeof(anchors) / sizeof(anchors[0]); i++) {
        void *start = NULL;
        int64_t first, last;

        CHECK_EQUAL(memory_map_near(anchors[i], 64 * MIB, MEMORY_READ_WRITE, &start), 0);
        first = (int64_t)((uintptr_t)start - anchors[i]);
        last = first + 64 * (int64_t)MIB;
        CHECK(first == (int32_t)first && last == (int32_t)last);
        CHECK(-first == (int32_t)-first && -last == (int32_t)-last);
        memory_unmap(start, 64 * MIB);
    }
}

static void ranges_at_both_ends_of_the_address_space_are_cut(void)
{
    struct memory_range low = memory_range_near(4096);
    struct memory_range high = memory_range_near(UINT64_MAX - 4096);
    void *start = NULL;

    CHECK_EQUAL(low.low, 0);
    CHECK_EQUAL(high.high, UINT64_MAX);
    CHECK_EQUAL(memory_map_near(UINT64_MAX - 4096, 4096, MEMORY_READ, &start), -ENOMEM);
    CHECK_EQUAL(memory_map_near(4096, 4096, MEMORY_READ, &start), 0);
    CHECK(start != NULL && (uintptr_t)start < 2 * GIB);
    memory_unmap(start, 4096);
}

/* A range of 8 MiB that is full but for one hole of 64 KiB. */
static void the_only_hole_of_a_full_range_is_found(void)
{
    uint8_t *hole;
    void *block = NULL, *start = NULL;
    struct memory_request request = {.size_bytes = 65536, .access = MEMORY_READ_WRITE, .fd = -1};

    CHECK_EQUAL(memory_map_aligned(8 * MIB, 65536, &block), 0);
    request.within = (struct memory_range){(uintptr_t)block, (uintptr_t)block + 8 * MIB};
    CHECK_EQUAL(memory_map_request(&request, &start), -ENOMEM);
    hole = (uint8_t *)block + 5 * MIB + 3 * 65536;
    memory_unmap(hole, 65536);
    CHECK_EQUAL(memory_map_request(&request, &start), 0);
    CHECK_EQUAL((uintptr_t)start, (uintptr_t)hole);
    request.size_bytes = 9 * MIB;
    CHECK_EQUAL(memory_map_request(&request, &start), -ENOMEM);
    memory_unmap(block, 8 * MIB);
}

static void existing_mappings_are_never_replaced(void)
{
    void *block = NULL, *start = NULL;
    struct memory_request request = {.size_bytes = 65536, .access = MEMORY_READ_WRITE, .fd = -1};

    CHECK_EQUAL(memory_map_aligned(2 * MIB, 65536, &block), 0);
    memset(block, 0x5a, 2 * MIB);
    request.within = (struct memory_range){(uintptr_t)block, (uintptr_t)block + 2 * MIB};
    CHECK_EQUAL(memory_map_request(&request, &start), -ENOMEM);
    for (size_t i = 0; i < 2 * MIB; i++)
        CHECK(((uint8_t *)block)[i] == 0x5a);
    memory_unmap(block, 2 * MIB);
}

static void the_heap_can_grow_beside_what_is_near_it(void)
{
    uint64_t heap_break = (uintptr_t)sbrk(0);
    struct memory_request request = {.size_bytes = 65536, .access = MEMORY_READ_WRITE, .fd = -1};
    void *starts[20];

    request.within = (struct memory_range){heap_break - 512 * MIB, heap_break + 512 * MIB};
    for (size_t i = 0; i < 20; i++) {
        CHECK_EQUAL(memory_map_request(&request, &starts[i]), 0);
        CHECK((uintptr_t)starts[i] < heap_break);
    }
    CHECK(sbrk((intptr_t)(256 * MIB)) != (void *)-1);
    CHECK(sbrk(-(intptr_t)(256 * MIB)) != (void *)-1);
    for (size_t i = 0; i < 20; i++)
        memory_unmap(starts[i], 65536);
}

static void memory_is_far_above_the_heap_if_it_has_to_be_above(void)
{
    uint64_t heap_break = (uintptr_t)sbrk(0);
    struct memory_request request = {.size_bytes = MIB, .access = MEMORY_READ_WRITE, .fd = -1};
    void *start;

    request.within = (struct memory_range){heap_break - MIB / 2, heap_break + 512 * MIB};
    CHECK_EQUAL(memory_map_request(&request, &start), 0);
    CHECK((uintptr_t)start > heap_break + 200 * MIB);
    memory_unmap(start, MIB);
}

static void files_are_shared_at_aligned_places(void)
{
    void *first = NULL, *second = NULL;
    int fd;

    CHECK_EQUAL(memory_file_create("test", 3 * MIB, false, &fd), 0);
    CHECK_EQUAL(memory_map_file_aligned(fd, 3 * MIB, 16 * MIB, &first), 0);
    CHECK_EQUAL(memory_map_file_aligned(fd, 3 * MIB, memory_page_size(), &second), 0);
    memory_file_close(fd);
    CHECK_EQUAL((uintptr_t)first % (16 * MIB), 0);
    ((char *)first)[3 * MIB - 1] = 'x';
    CHECK_EQUAL(((char *)second)[3 * MIB - 1], 'x');
    /* Nothing is left around it. */
    CHECK_EQUAL(madvise((char *)first + 3 * MIB, memory_page_size(), MADV_NORMAL), -1);
    memory_unmap(first, 3 * MIB);
    memory_unmap(second, 3 * MIB);
}

/* What the kernel says of the mapping that starts there: two letters each, "dd" for one that no core file holds. */
static void read_flags(const void *start, char flags_out[256])
{
    FILE *file = fopen("/proc/self/smaps", "r");
    char line[512], head[32];
    bool is_there = false;

    flags_out[0] = 0;
    snprintf(head, sizeof(head), "%lx-", (unsigned long)(uintptr_t)start);
    while (file != NULL && flags_out[0] == 0 && fgets(line, sizeof(line), file) != NULL) {
        is_there |= strncmp(line, head, strlen(head)) == 0;
        if (is_there && strncmp(line, "VmFlags:", 8) == 0)
            memcpy(flags_out, line + 8, 255), flags_out[255] = 0;
    }
    if (file != NULL)
        fclose(file);
}

/* A ring of 256 GiB of which a few pages were ever touched filled the disk when its process crashed. */
static void shared_files_are_in_no_core_file(void)
{
    char flags[256];
    void *place = NULL;
    int fd;

    CHECK_EQUAL(memory_file_create("test", 3 * MIB, false, &fd), 0);
    CHECK_EQUAL(memory_map_file_aligned(fd, 3 * MIB, 16 * MIB, &place), 0);
    memory_file_close(fd);
    read_flags(place, flags);
    CHECK(strstr(flags, " rd") != NULL);
    CHECK(strstr(flags, " dd") != NULL);
    memory_unmap(place, 3 * MIB);
}

static void check_replaced(int (*replace)(void *start, size_t size_bytes))
{
    void *first = NULL, *second = NULL;
    int fd;

    CHECK_EQUAL(memory_file_create("test", MIB, false, &fd), 0);
    CHECK_EQUAL(memory_map_file_aligned(fd, MIB, memory_page_size(), &first), 0);
    CHECK_EQUAL(memory_map_file_aligned(fd, MIB, memory_page_size(), &second), 0);
    memory_file_close(fd);
    *(char *)first = 'x';
    CHECK_EQUAL(replace(first, MIB), 0);
    CHECK_EQUAL(*(char *)first, 0);
    *(char *)first = 'y';
    CHECK_EQUAL(*(char *)second, 'x');
    memory_unmap(first, MIB);
    memory_unmap(second, MIB);
}

static void replaced_memory_is_another_and_zeroed(void)
{
    check_replaced(memory_replace);
    check_replaced(memory_replace_uncounted);
}

static void repeated_memory_is_the_same_everywhere(void)
{
    const struct memory_range low = {MIB, 1ull << 31};
    size_t piece = 2 * memory_page_size();
    void *place = NULL;
    char *start;

    CHECK_EQUAL(memory_map_repeated(low, piece + 1, 4, &place), -EINVAL);
    CHECK_EQUAL(memory_map_repeated(low, 0, 4, &place), -EINVAL);
    CHECK(place == NULL);
    CHECK_EQUAL(memory_map_repeated(low, piece, 4, &place), 0);
    CHECK(memory_range_holds(low, (uintptr_t)place, 4 * piece));
    start = place;
    for (size_t i = 0; i < 4 * piece; i += memory_page_size())
        CHECK_EQUAL(start[i], 0);
    start[piece + 5] = 'x';
    for (size_t i = 0; i < 4; i++)
        CHECK_EQUAL(start[i * piece + 5], 'x');
    memory_unmap(place, 4 * piece);
}

static void moved_memory_takes_the_place_of_another(void)
{
    void *from = NULL, *to = NULL;

    CHECK_EQUAL(memory_map(MIB, &from), 0);
    CHECK_EQUAL(memory_map_repeated((struct memory_range){MIB, 1ull << 31}, MIB / 4, 4, &to), 0);
    *(char *)to = 'x';
    *(char *)from = 'y';
    CHECK_EQUAL(memory_move((char *)from + 1, MIB, to), -EINVAL);
    CHECK_EQUAL(*(char *)to, 'x');
    CHECK_EQUAL(memory_move(from, MIB, to), 0);
    CHECK_EQUAL(*(char *)to, 'y');
    CHECK_EQUAL(((char *)to)[MIB / 4], 0);
    memory_unmap(to, MIB);
}

static void mappings_are_taken_from_a_run_while_it_lasts(void)
{
    size_t page = memory_page_size();
    void *first = NULL, *second = NULL, *other = NULL, *later = NULL;

    CHECK_EQUAL(memory_map_begin_run(4 * page), 0);
    CHECK_EQUAL(memory_map(1, &first), 0);
    CHECK_EQUAL(memory_reserve(page, &other), 0);
    CHECK_EQUAL(memory_map(2 * page, &second), 0);
    CHECK(second == (char *)first + page);
    memset(first, 1, 3 * page);
    /* What does not fit is mapped as always. */
    CHECK_EQUAL(memory_map(2 * page, &later), 0);
    CHECK(later != (char *)second + 2 * page);
    CHECK_EQUAL(*(char *)later, 0);
    CHECK(is_mapped((char *)second + 2 * page));
    memory_map_end_run();
    CHECK(!is_mapped((char *)second + 2 * page));
    CHECK(is_mapped(first) && is_mapped(second));
    memory_unmap(first, page);
    CHECK(!is_mapped(first) && is_mapped(second));
    memory_unmap(second, 2 * page);
    memory_unmap(later, 2 * page);
    memory_unmap(other, page);
    memory_map_end_run();
}

static const struct check_case cases[] = {
    CHECK_CASE(page_size_is_the_systems),
    CHECK_CASE(mapped_memory_is_zeroed_writable_and_goes_away),
    CHECK_CASE(sizes_that_cannot_be_are_refused),
    CHECK_CASE(aligned_memory_is_aligned_and_keeps_nothing_around_it),
    CHECK_CASE(reserved_addresses_have_no_memory_until_they_are_protected),
    CHECK_CASE(memory_is_populated_as_far_as_it_is_needed_and_not_much_further),
    CHECK_CASE(near_memory_is_within_reach_both_ways),
    CHECK_CASE(ranges_at_both_ends_of_the_address_space_are_cut),
    CHECK_CASE(the_only_hole_of_a_full_range_is_found),
    CHECK_CASE(existing_mappings_are_never_replaced),
    CHECK_CASE(the_heap_can_grow_beside_what_is_near_it),
    CHECK_CASE(memory_is_far_above_the_heap_if_it_has_to_be_above),
    CHECK_CASE(files_are_shared_at_aligned_places),
    CHECK_CASE(shared_files_are_in_no_core_file),
    CHECK_CASE(replaced_memory_is_another_and_zeroed),
    CHECK_CASE(repeated_memory_is_the_same_everywhere),
    CHECK_CASE(moved_memory_takes_the_place_of_another),
    CHECK_CASE(mappings_are_taken_from_a_run_while_it_lasts),
};

CHECK_MAIN(cases)

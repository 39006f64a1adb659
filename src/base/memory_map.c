/* SPDX-License-Identifier: MIT */
/*
 * Mapping memory by raw system calls. The one thing here that is more than a wrapper is the search for room in a range
 * of addresses: the kernel has no call for that and /proc may be missing or slow, so places are tried with
 * MAP_FIXED_NOREPLACE, from the middle of the range outwards, first in big steps and then in smaller ones, and above
 * the heap last. Invariant: an existing mapping is never replaced. No lock; the cached page size is the same whoever
 * computes it.
 */
#include "base/memory_map.h"

#include "base/alignment.h"
#include "base/assert.h"
#include "base/memory_area.h"
#include "base/memory_file.h"
#include "base/memory_run.h"
#include "base/raw_syscall.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/mman.h>
#include <stdatomic.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* Linux 5.14; older ones refuse it. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define KIB             1024u
#define MIB             (1024u * KIB)
#define REACH           (1ull << 31)
#define REACH_SLACK     (64u * KIB) /* for the length of instructions and for what lies behind the address asked for */
#define LOWEST_ADDRESS  (1u * MIB)  /* the system's own minimum is 64 KiB and refuses with -EPERM */
#define HIGHEST_ADDRESS (1ull << 56)
#define FINEST_STEP     (64u * KIB)
/* As memory is filled: a few at first, and more where there was need of many. */
#define POPULATE_PAGES_MIN 2u
#define POPULATE_PAGES_MAX 8u
#define AREA_TRIES         8

_Static_assert(MEMORY_READ == PROT_READ && MEMORY_WRITE == PROT_WRITE && MEMORY_EXECUTE == PROT_EXEC,
               "access is passed to the kernel as it is");

static bool is_error(long result)
{
    return result < 0 && result >= -4095;
}

/* mprotect looks at the alignment of its start before anything else; there is nothing to protect. */
static size_t find_page_size(void)
{
    size_t size = MEMORY_PAGE_MIN;

    while (size < MEMORY_PAGE_MAX && raw_syscall(__NR_mprotect, (long)size, 0, PROT_NONE, 0, 0, 0) == -EINVAL)
        size *= 2;
    return size;
}

size_t memory_page_size(void)
{
    /* Relaxed: the value stands alone. */
    static _Atomic size_t cached;
    size_t size = atomic_load_explicit(&cached, memory_order_relaxed);

    if (size == 0) {
        size = find_page_size();
        atomic_store_explicit(&cached, size, memory_order_relaxed);
    }
    return size;
}

size_t memory_round_to_pages(size_t size_bytes)
{
    return align_up(size_bytes, memory_page_size());
}

bool memory_range_holds(struct memory_range range, uint64_t start, size_t size_bytes)
{
    if (range.low == 0 && range.high == 0)
        return true;
    return start >= range.low && start <= range.high && range.high - start >= size_bytes;
}

struct memory_range memory_range_near(uint64_t address)
{
    uint64_t reach = REACH - REACH_SLACK;

    return (struct memory_range){
        .low = address > reach ? address - reach : 0,
        .high = address < UINT64_MAX - reach ? address + reach : UINT64_MAX,
    };
}

/*
 * How often memory was given back. A thread that is given what another one gave back comes after it: the kernel sees to
 * that, and this says it to whoever only knows of C, like the thread sanitizer.
 */
static _Atomic unsigned unmap_count;

static long map(const struct memory_request *request, uint64_t place, int flags)
{
    long start;

    flags |= request->fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    if (request->access == MEMORY_NO_ACCESS)
        flags |= MAP_NORESERVE;
    start = raw_syscall(__NR_mmap, (long)place, (long)request->size_bytes, (long)request->access, flags,
                        request->fd >= 0 ? request->fd : -1, 0);
    /* Acquire: pairs with the release of memory_unmap. */
    (void)atomic_load_explicit(&unmap_count, memory_order_acquire);
    return start;
}

static void note_if_elsewhere(uint64_t start, size_t size_bytes)
{
    if (!memory_area_holds(start))
        memory_area_note(start, size_bytes);
}

/* -EEXIST: something is there already. */
static int map_at(const struct memory_request *request, uint64_t place, void **start_out)
{
    long start = map(request, place, MAP_FIXED_NOREPLACE);

    if (is_error(start))
        return (int)start;
    /* Kernels before 4.17 take the flag for a hint. */
    if (!memory_range_holds(request->within, (uint64_t)start, request->size_bytes)) {
        memory_unmap((void *)start, request->size_bytes);
        return -EEXIST;
    }
    note_if_elsewhere((uint64_t)start, request->size_bytes);
    *start_out = (void *)start;
    return 0;
}

/* Whether after this result another place may do better. -ENOMEM: also given for addresses that this CPU has not. */
static bool try_elsewhere(int result)
{
    return result == -EEXIST || result == -ENOMEM;
}

static int map_at_if_within(const struct memory_request *request, uint64_t place, void **start_out)
{
    if (!memory_range_holds(request->within, place, request->size_bytes))
        return -ENOMEM;
    return map_at(request, place, start_out);
}

/* Tries places a step apart on both sides of the middle, nearest first. */
static int map_around(const struct memory_request *request, uint64_t middle, uint64_t step, void **start_out)
{
    uint64_t span = request->within.high - request->within.low;

    for (uint64_t distance = 0; distance < span; distance += step) {
        int result = map_at_if_within(request, middle - distance, start_out);

        if (try_elsewhere(result))
            result = map_at_if_within(request, middle + distance, start_out);
        if (!try_elsewhere(result))
            return result;
    }
    return -ENOMEM;
}

/* As near to `middle` as the range allows. */
static int map_within(const struct memory_request *request, uint64_t middle, void **start_out)
{
    static const uint64_t steps[] = {16 * MIB, 1 * MIB, FINEST_STEP};
    struct memory_range within = request->within;

    if (within.high <= within.low || within.high - within.low < request->size_bytes)
        return -ENOMEM;
    if (middle > within.high - request->size_bytes)
        middle = within.high - request->size_bytes;
    middle &= ~(uint64_t)(FINEST_STEP - 1);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        int result = map_around(request, middle, steps[i], start_out);

        if (!try_elsewhere(result))
            return result;
    }
    return -ENOMEM;
}

static uint64_t middle_of(struct memory_range range, size_t size_bytes)
{
    return range.high - range.low < size_bytes ? range.low : range.low + (range.high - range.low - size_bytes) / 2;
}

/*
 * The heap grows upwards from its break, up to the next mapping, and programs rely on it: what is above the break is
 * only taken if there is no room below, and far from it.
 */
static int map_beside_heap(struct memory_request *request, uint64_t heap_break, void **start_out)
{
    struct memory_range all = request->within;
    int result;

    request->within.high = heap_break;
    result = map_within(request, middle_of(all, request->size_bytes), start_out);
    if (!try_elsewhere(result))
        return result;
    request->within = (struct memory_range){.low = heap_break, .high = all.high};
    return map_within(request, middle_of(request->within, request->size_bytes), start_out);
}

static int map_in_range(struct memory_request *request, void **start_out)
{
    struct memory_range *within = &request->within;
    uint64_t heap_break = (uint64_t)raw_syscall(__NR_brk, 0, 0, 0, 0, 0, 0);

    if (within->low < LOWEST_ADDRESS)
        within->low = LOWEST_ADDRESS;
    if (within->high > HIGHEST_ADDRESS)
        within->high = HIGHEST_ADDRESS;
    if (within->high <= within->low)
        return -ENOMEM;
    if (heap_break > within->low && heap_break < within->high)
        return map_beside_heap(request, heap_break, start_out);
    return map_within(request, middle_of(*within, request->size_bytes), start_out);
}

/* 0: there is no run, or it is not for such memory. */
static long take_from_run(const struct memory_request *request)
{
    if (request->access != MEMORY_READ_WRITE || request->fd >= 0)
        return 0;
    return (long)memory_run_take(request->size_bytes);
}

/* In an area of ours. What others have there is passed over; systems with fewer addresses do not have it. */
static long map_in_area(const struct memory_request *request)
{
    long start = -EEXIST;

    for (int i = 0; i < AREA_TRIES && start == -EEXIST; i++) {
        uint64_t place = memory_area_take(request->size_bytes);

        start = place == 0 ? -ENOMEM : map(request, place, MAP_FIXED_NOREPLACE);
    }
    return start == -EEXIST || start == -ENOMEM ? map(request, 0, 0) : start;
}

int memory_map_request(const struct memory_request *request, void **start_out)
{
    struct memory_request rounded = *request;
    long start;

    rounded.size_bytes = memory_round_to_pages(request->size_bytes);
    if (rounded.size_bytes == 0)
        return -EINVAL;
    if (rounded.within.low != 0 || rounded.within.high != 0)
        return map_in_range(&rounded, start_out);
    start = take_from_run(&rounded);
    if (start == 0)
        start = map_in_area(&rounded);
    if (is_error(start))
        return (int)start;
    note_if_elsewhere((uint64_t)start, rounded.size_bytes);
    *start_out = (void *)start;
    return 0;
}

int memory_map_begin_run(size_t size_bytes)
{
    void *start;
    int result = memory_map(size_bytes, &start);

    if (result == 0)
        memory_run_begin((uintptr_t)start, (uintptr_t)start + memory_round_to_pages(size_bytes));
    return result;
}

void memory_map_end_run(void)
{
    uint64_t end, start = memory_run_end(&end);

    if (start != 0)
        memory_unmap((void *)(uintptr_t)start, end - start);
}

int memory_map(size_t size_bytes, void **start_out)
{
    struct memory_request request = {.size_bytes = size_bytes, .access = MEMORY_READ_WRITE, .fd = -1};

    return memory_map_request(&request, start_out);
}

int memory_map_aligned(size_t size_bytes, size_t alignment, void **start_out)
{
    size_t size = memory_round_to_pages(size_bytes);
    size_t before, after;
    uint8_t *start;
    void *mapped;
    int result;

    if (alignment <= memory_page_size())
        return memory_map(size_bytes, start_out);
    if (size == 0 || size + alignment < size)
        return -EINVAL;
    result = memory_map(size + alignment, &mapped);
    if (result != 0)
        return result;
    before = -(uintptr_t)mapped & (alignment - 1);
    after = alignment - before;
    start = (uint8_t *)mapped + before;
    if (before != 0)
        memory_unmap(mapped, before);
    memory_unmap(start + size, after);
    *start_out = start;
    return 0;
}

/* Where a process locks all that it maps, all of it would be provided at once, were it not unlocked first. */
static int map_file_at(int fd, size_t size_bytes, void *start)
{
    struct memory_request request = {.size_bytes = size_bytes, .access = MEMORY_NO_ACCESS, .fd = fd};
    long mapped = map(&request, (uintptr_t)start, MAP_FIXED);

    if (is_error(mapped))
        return (int)mapped;
    (void)raw_syscall(__NR_munlock, mapped, (long)size_bytes, 0, 0, 0, 0);
    /* A core file would hold all of it, the pages too that nobody ever touched. */
    (void)raw_syscall(__NR_madvise, mapped, (long)size_bytes, MADV_DONTDUMP, 0, 0, 0);
    return memory_protect(start, size_bytes, MEMORY_READ_WRITE);
}

int memory_map_file_aligned(int fd, size_t size_bytes, size_t alignment, void **start_out)
{
    uint8_t *reserved, *start;
    void *place;
    int result = memory_reserve(size_bytes + alignment, &place);

    if (result != 0)
        return result;
    reserved = place;
    start = (uint8_t *)(uintptr_t)align_up((uintptr_t)reserved, alignment);
    result = map_file_at(fd, size_bytes, start);
    if (result != 0) {
        memory_unmap(reserved, size_bytes + alignment);
        return result;
    }
    if (start != reserved)
        memory_unmap(reserved, (size_t)(start - reserved));
    memory_unmap(start + size_bytes, alignment - (size_t)(start - reserved));
    memory_area_forget((uintptr_t)reserved);
    note_if_elsewhere((uintptr_t)start, size_bytes);
    *start_out = start;
    return 0;
}

static long remap(void *start, size_t old_bytes, size_t new_bytes, void *place)
{
    return raw_syscall(__NR_mremap, (long)start, (long)old_bytes, (long)new_bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                       (long)place, 0);
}

static int repeat(uint8_t *start, size_t piece_bytes, unsigned count)
{
    struct memory_request request = {.size_bytes = piece_bytes, .access = MEMORY_READ_WRITE};
    long mapped = 0;
    int result = memory_file_create("gait table", piece_bytes, false, &request.fd);

    if (result != 0)
        return result;
    for (unsigned i = 0; i < count && !is_error(mapped); i++)
        mapped = map(&request, (uintptr_t)start + i * piece_bytes, MAP_FIXED);
    memory_file_close(request.fd);
    return is_error(mapped) ? (int)mapped : 0;
}

int memory_map_repeated(struct memory_range within, size_t piece_bytes, unsigned count, void **start_out)
{
    struct memory_request request = {
        .size_bytes = piece_bytes * count, .access = MEMORY_NO_ACCESS, .within = within, .fd = -1};
    void *start;
    int result;

    if (piece_bytes == 0 || piece_bytes % memory_page_size() != 0)
        return -EINVAL;
    result = memory_map_request(&request, &start);
    if (result != 0)
        return result;
    result = repeat(start, piece_bytes, count);
    if (result == 0)
        *start_out = start;
    else
        memory_unmap(start, request.size_bytes);
    return result;
}

int memory_move(void *start, size_t size_bytes, void *place)
{
    long moved = remap(start, size_bytes, size_bytes, place);

    if (is_error(moved))
        return (int)moved;
    memory_area_forget((uintptr_t)start);
    return 0;
}

int memory_replace(void *start, size_t size_bytes)
{
    struct memory_request request = {.size_bytes = size_bytes, .access = MEMORY_READ_WRITE, .fd = -1};
    long mapped = map(&request, (uintptr_t)start, MAP_FIXED | MAP_NORESERVE);

    return is_error(mapped) ? (int)mapped : 0;
}

int memory_replace_uncounted(void *start, size_t size_bytes)
{
    long mapped = raw_syscall(__NR_mmap, (long)start, (long)size_bytes, MEMORY_READ_WRITE,
                              MAP_FIXED | MAP_NORESERVE | MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return is_error(mapped) ? (int)mapped : 0;
}

int memory_map_near(uint64_t address, size_t size_bytes, unsigned access, void **start_out)
{
    struct memory_request request = {
        .size_bytes = size_bytes, .access = access, .within = memory_range_near(address), .fd = -1};

    return memory_map_request(&request, start_out);
}

int memory_reserve(size_t size_bytes, void **start_out)
{
    struct memory_request request = {.size_bytes = size_bytes, .access = MEMORY_NO_ACCESS, .fd = -1};

    return memory_map_request(&request, start_out);
}

int memory_protect(void *start, size_t size_bytes, unsigned access)
{
    return (int)raw_syscall(__NR_mprotect, (long)start, (long)size_bytes, (long)access, 0, 0, 0);
}

void memory_populate(void *start, size_t size_bytes)
{
    raw_syscall(__NR_madvise, (long)start, (long)memory_round_to_pages(size_bytes), MADV_POPULATE_WRITE, 0, 0, 0);
}

void memory_populate_ahead(void *start, size_t size_bytes, size_t needed_bytes, size_t *present_bytes)
{
    size_t page, step, end;

    if (needed_bytes <= *present_bytes)
        return;
    page = memory_page_size();
    step = *present_bytes / page / 2;
    step = step < POPULATE_PAGES_MIN ? POPULATE_PAGES_MIN : step > POPULATE_PAGES_MAX ? POPULATE_PAGES_MAX : step;
    end = *present_bytes + step * page;
    end = end < needed_bytes ? memory_round_to_pages(needed_bytes) : end;
    end = end < size_bytes ? end : size_bytes;
    memory_populate((uint8_t *)start + *present_bytes, end - *present_bytes);
    *present_bytes = end;
}

void memory_unmap(void *start, size_t size_bytes)
{
    long result;

    if (start == NULL)
        return;
    atomic_fetch_add_explicit(&unmap_count, 1, memory_order_release);
    /* Before somebody else can have it. */
    memory_area_forget((uintptr_t)start);
    result = raw_syscall(__NR_munmap, (long)start, (long)memory_round_to_pages(size_bytes), 0, 0, 0, 0);
    ASSERT(result == 0, "giving back memory that was not mapped like this");
}

/* SPDX-License-Identifier: MIT */
/*
 * Memory straight from the kernel, a page at a time: where everything that runs inside the target gets its memory.
 * Sizes are rounded up to whole pages; whoever maps owns the mapping and gives it back with memory_unmap and the same
 * size. Raw system calls, no locks, no libc: callable from any thread, in signal handlers and inside the target.
 */
#ifndef GAIT_BASE_MEMORY_MAP_H
#define GAIT_BASE_MEMORY_MAP_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What may be done with a mapping; or-ed together. */
enum memory_access {
    MEMORY_NO_ACCESS = 0,
    MEMORY_READ = 1,
    MEMORY_WRITE = 2,
    MEMORY_EXECUTE = 4,
    MEMORY_READ_WRITE = MEMORY_READ | MEMORY_WRITE,
    MEMORY_READ_EXECUTE = MEMORY_READ | MEMORY_EXECUTE,
};

/* Addresses low <= a < high. {0, 0} stands for anywhere. */
struct memory_range {
    uint64_t low;
    uint64_t high;
};

/* What memory_map_request maps. */
struct memory_request {
    size_t size_bytes;
    unsigned access;            /* enum memory_access */
    struct memory_range within; /* all of the mapping lies in here */
    int fd;                     /* shares this file from its beginning; negative: private, zeroed memory */
};

/*
 * The smallest page that a system may have, and the largest; all of them are powers of two. What lies in an aligned
 * piece of the smallest size lies in one page, wherever that is: where there is no time to ask.
 */
#define MEMORY_PAGE_MIN 4096u
#define MEMORY_PAGE_MAX 65536u

/* The system's page size, found out without /proc, auxv or libc. */
size_t memory_page_size(void);

/* The size rounded up to whole pages; 0 when that does not fit. */
size_t memory_round_to_pages(size_t size_bytes);

/* Whether all of a mapping lies in the range. */
bool memory_range_holds(struct memory_range range, uint64_t start, size_t size_bytes);

/* The addresses from which and to which `address` can be reached with a signed 32-bit displacement, less some slack. */
struct memory_range memory_range_near(uint64_t address);

/*
 * Maps memory as requested. With a range the nearest free places to its middle are tried first, those above the heap
 * last, and at most some 140,000 places in all. -ENOMEM: no memory, or no room in the range; -EINVAL: a size of 0 or
 * too large; -EACCES, -EPERM: the system forbids that access; anything else that mmap gives.
 */
MUST_USE int memory_map_request(const struct memory_request *request, void **start_out);

/* Private zeroed memory for reading and writing, anywhere; in an area of ours, if that can be: memory_area.h. */
MUST_USE int memory_map(size_t size_bytes, void **start_out);

/*
 * Maps so much at once, of which memory_map and others that want private memory anywhere then take theirs, until it is
 * used up or memory_map_end_run gives the rest back. One at a time. -ENOMEM and others: nothing has changed.
 */
MUST_USE int memory_map_begin_run(size_t size_bytes);
void memory_map_end_run(void);

/* The same at a start that is a multiple of `alignment`, a power of two. */
MUST_USE int memory_map_aligned(size_t size_bytes, size_t alignment, void **start_out);

/*
 * Shares a file, as much of it, for reading and writing at a start that is a multiple of `alignment`. Core files of the
 * process are without it.
 */
MUST_USE int memory_map_file_aligned(int fd, size_t size_bytes, size_t alignment, void **start_out);

/*
 * Zeroed memory of `piece_bytes`, whole pages, that is there `count` times, one behind the other: what is written in
 * one place is read in all. Children that are forked share it. Errors as of memory_map_request, and of mremap.
 */
MUST_USE int memory_map_repeated(struct memory_range within, size_t piece_bytes, unsigned count, void **start_out);

/* Puts a mapping in the place of another of the same size, in one step for who uses that. Errors of mremap. */
MUST_USE int memory_move(void *start, size_t size_bytes, void *place);

/* Puts private zeroed memory in the place of all of a mapping. */
MUST_USE int memory_replace(void *start, size_t size_bytes);

/*
 * The same with memory that children share which are forked later: the system does not count it as the process's own,
 * of which that may be allowed little (RLIMIT_DATA), however much of it is ever used.
 */
MUST_USE int memory_replace_uncounted(void *start, size_t size_bytes);

/* Private zeroed memory within reach of a signed 32-bit displacement from `address`. */
MUST_USE int memory_map_near(uint64_t address, size_t size_bytes, unsigned access, void **start_out);

/* Takes addresses without memory behind them; memory_protect makes parts of them usable. */
MUST_USE int memory_reserve(size_t size_bytes, void **start_out);

/* Changes the access to whole pages. -EINVAL: start is not at a page; -EACCES, -EPERM: the system forbids it. */
MUST_USE int memory_protect(void *start, size_t size_bytes, unsigned access);

/*
 * Makes pages of writable memory present at once, for who will touch all of them: that is quicker than one by one. Only
 * a hint: where the system cannot, pages come when they are touched.
 */
void memory_populate(void *start, size_t size_bytes);

/*
 * The same for memory that is filled from its beginning: the pages up to needed_bytes, of size_bytes in all, and a few
 * more. *present_bytes is how far that was done, 0 at first.
 */
void memory_populate_ahead(void *start, size_t size_bytes, size_t needed_bytes, size_t *present_bytes);

/* Gives a mapping, or some pages of it, back. NULL is fine. Fails only for our own bugs, which are asserted. */
void memory_unmap(void *start, size_t size_bytes);

#endif

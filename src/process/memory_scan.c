/* SPDX-License-Identifier: MIT */
/*
 * A window of copied bytes is moved over the range. What is left at its end, shorter than the pattern, is kept in front
 * of what is copied next, unless something that cannot be read is between.
 */
#include "process/memory_scan.h"

#include "base/alignment.h"
#include "base/memory_functions.h"
#include "base/memory_map.h"
#include "process/mapping_list.h"
#include "process/memory_pattern.h"
#include "process/memory_probe.h"

#include <asm/errno.h>

#define WINDOW_BYTES (256u << 10)
/* Without /proc, so much is tried page by page. */
#define PROBED_BYTES_MAX ((uint64_t)1 << 30)

struct scan {
    const struct memory_pattern *pattern;
    bool (*visit)(void *context, uint64_t address);
    void *context;
    uint8_t *window;
    bool is_ended;
};

/* Of bytes at an address, which are at the window's beginning. How many of them are still needed: those at the end. */
static size_t search_window(struct scan *scan, uint64_t address, size_t size_bytes)
{
    size_t at = memory_pattern_find(scan->pattern, scan->window, size_bytes, 0), keep = scan->pattern->size_bytes - 1;

    while (at != size_bytes && !scan->is_ended) {
        scan->is_ended = !scan->visit(scan->context, address + at);
        at = memory_pattern_find(scan->pattern, scan->window, size_bytes, at + 1);
    }
    return size_bytes < keep ? size_bytes : keep;
}

/* A range of which all, some or nothing can be read. */
static void scan_range(struct scan *scan, uint64_t start, uint64_t end)
{
    size_t kept = 0;

    while (start < end && !scan->is_ended) {
        size_t room = WINDOW_BYTES - kept, wanted = end - start < room ? (size_t)(end - start) : room;
        size_t got = memory_probe_copy(start, scan->window + kept, wanted) == 0
                         ? wanted
                         : memory_probe_copy_some(start, scan->window + kept, wanted);
        size_t filled = kept + got;

        kept = search_window(scan, start - kept, filled);
        memmove(scan->window, scan->window + filled - kept, kept);
        start += got;
        if (got == wanted)
            continue;
        kept = 0;
        start += align_rest(start, memory_page_size());
        if (start == 0)
            break;
    }
}

/* The mappings of the range, one after the other: what is not mapped need not be tried. Neighbours are one. */
struct mapping_walk {
    struct scan *scan;
    uint64_t start;
    uint64_t end;
    uint64_t pending_start;
    uint64_t pending_end;
};

static void scan_pending(struct mapping_walk *walk)
{
    uint64_t window = (uintptr_t)walk->scan->window, window_end = window + WINDOW_BYTES;
    uint64_t start = walk->pending_start, end = walk->pending_end;

    if (start < window_end && end > window) {
        if (start < window)
            scan_range(walk->scan, start, window);
        start = window_end;
    }
    if (start < end)
        scan_range(walk->scan, start, end);
    walk->pending_start = walk->pending_end = 0;
}

static void take_mapping(void *context, const struct mapping *mapping)
{
    struct mapping_walk *walk = context;
    uint64_t start = mapping->start > walk->start ? mapping->start : walk->start;
    uint64_t end = mapping->end < walk->end ? mapping->end : walk->end;

    if (!mapping->is_readable || walk->scan->is_ended)
        return;
    if (start != walk->pending_end)
        scan_pending(walk);
    if (walk->pending_end == 0)
        walk->pending_start = start;
    walk->pending_end = end;
}

int memory_scan(const struct memory_pattern *pattern, uint64_t start, uint64_t end,
                bool (*visit)(void *context, uint64_t address), void *context)
{
    struct scan scan = {.pattern = pattern, .visit = visit, .context = context};
    struct mapping_walk walk = {.scan = &scan, .start = start, .end = end};
    void *memory;
    int result;

    if (start >= end)
        return -EINVAL;
    result = memory_map(WINDOW_BYTES, &memory);
    if (result != 0)
        return result;
    scan.window = memory;
    result = mapping_list_visit(start, end, take_mapping, &walk);
    if (result == 0) {
        scan_pending(&walk);
    } else if (end - start <= PROBED_BYTES_MAX) {
        scan_range(&scan, start, end);
        result = 0;
    }
    memory_unmap(memory, WINDOW_BYTES);
    return result;
}

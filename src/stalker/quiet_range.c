/* SPDX-License-Identifier: MIT */
/*
 * The ranges are looked at when a block is translated, never when it runs. A block that leads to quiet code looks
 * whether its buffer is full, which it can leave to the next blocks of its page otherwise: so what changes in a page
 * concerns all of its blocks.
 */
#include "stalker/quiet_range.h"

#include "base/memory_map.h"
#include "stalker/invalidate.h"
#include "stalker/stalker_engine.h"

#include <asm/errno.h>
#include <stdatomic.h>

void quiet_ranges_init(struct quiet_ranges *quiet)
{
    interval_map_init(&quiet->ranges);
}

void quiet_ranges_deinit(struct quiet_ranges *quiet)
{
    interval_map_deinit(&quiet->ranges);
}

/* Whether all of it is in ranges. */
static bool is_covered(const struct interval_map *ranges, uint64_t start, uint64_t end)
{
    struct interval range;

    while (start < end) {
        if (!interval_map_find(ranges, start, &range))
            return false;
        start = range.end;
    }
    return true;
}

static void forget_pages(struct stalker_engine *engine, uint64_t start, uint64_t end)
{
    uint64_t page = memory_page_size();

    start &= ~(page - 1);
    end = end > UINT64_MAX - page ? UINT64_MAX : (end + page - 1) & ~(page - 1);
    stalker_invalidate(engine, start, end);
}

int quiet_range_add(struct stalker_engine *engine, uint64_t start, uint64_t end)
{
    struct quiet_ranges *quiet = &engine->quiet;
    int result = 0;

    if (start >= end)
        return -EINVAL;
    mutex_lock(&quiet->lock);
    if (is_covered(&quiet->ranges, start, end)) {
        mutex_unlock(&quiet->lock);
        return 0;
    }
    result = interval_map_remove(&quiet->ranges, start, end);
    if (result == 0)
        result = interval_map_insert(&quiet->ranges, start, end, 0);
    atomic_store_explicit(&quiet->is_used, true, memory_order_relaxed);
    mutex_unlock(&quiet->lock);
    forget_pages(engine, start, end);
    return result;
}

int quiet_range_remove(struct stalker_engine *engine, uint64_t start, uint64_t end)
{
    struct quiet_ranges *quiet = &engine->quiet;
    int result = 0;
    bool overlaps;

    if (start >= end)
        return -EINVAL;
    mutex_lock(&quiet->lock);
    overlaps = interval_map_overlaps(&quiet->ranges, start, end);
    if (overlaps)
        result = interval_map_remove(&quiet->ranges, start, end);
    mutex_unlock(&quiet->lock);
    if (overlaps && result == 0)
        forget_pages(engine, start, end);
    return result;
}

static bool find(const struct interval_map *ranges, uint64_t pc, uint64_t *border_out)
{
    size_t index = interval_map_index_from(ranges, pc), count = interval_map_count(ranges);
    const struct interval *range = index < count ? interval_map_at(ranges, index) : NULL;

    if (range == NULL || pc < range->start) {
        *border_out = range == NULL ? UINT64_MAX : range->start;
        return false;
    }
    *border_out = range->end;
    while (++index < count && interval_map_at(ranges, index)->start == *border_out)
        *border_out = interval_map_at(ranges, index)->end;
    return true;
}

bool quiet_range_find(struct stalker_engine *engine, struct app_pc pc, struct app_pc *border_out)
{
    struct quiet_ranges *quiet = &engine->quiet;
    bool is_quiet;

    /* Whoever added a range has forgotten what was translated before he did. */
    if (!atomic_load_explicit(&quiet->is_used, memory_order_relaxed)) {
        *border_out = app_pc_of(UINT64_MAX);
        return false;
    }
    mutex_lock(&quiet->lock);
    is_quiet = find(&quiet->ranges, pc.value, &border_out->value);
    mutex_unlock(&quiet->lock);
    return is_quiet;
}

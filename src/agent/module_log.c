/* SPDX-License-Identifier: MIT */
/*
 * Modules that are known are kept by their ranges, so that what goes can be told too. A range that is mapped anew, in
 * part or as a whole, is looked at anew: what was there is unloaded, what is there now is loaded.
 */
#include "agent/module_log.h"

#include "agent/selection.h"
#include "base/interval_map.h"
#include "base/time_counter.h"
#include "process/mapping_list.h"
#include "ring/ring_region.h"

static struct module_log {
    struct mutex lock;
    struct ring_region *ring;
    struct interval_map known;
} log;

static void load(void *context, const struct mapping *mapping)
{
    struct ring_module module = {
        .is_loaded = 1,
        .time = time_counter(),
        .start = mapping->start,
        .end = mapping->end,
        .file_offset = mapping->file_offset,
        .path_bytes = (uint32_t)mapping->path_length,
    };

    (void)context;
    if (!mapping->is_executable || mapping->path_length == 0)
        return;
    /* Without memory for it nobody is told when it goes. */
    (void)!interval_map_insert(&log.known, mapping->start, mapping->end, 0);
    (void)ring_region_add_module(log.ring, &module, mapping->path);
    selection_module_loaded(mapping);
}

static void unload(uint64_t start, uint64_t end)
{
    for (size_t i = interval_map_index_from(&log.known, start); i < interval_map_count(&log.known); i++) {
        const struct interval *known = interval_map_at(&log.known, i);
        struct ring_module module = {.time = time_counter(), .start = known->start, .end = known->end};

        if (known->start >= end)
            break;
        (void)ring_region_add_module(log.ring, &module, "");
        selection_module_unloaded(known->start, known->end);
    }
    /* Whole ranges go, so nothing is split and no memory is needed. */
    (void)!interval_map_remove(&log.known, start, end);
}

/* The first and last address of modules that a range is part of: all of them are looked at anew. */
static void changed(void *context, uint64_t start, uint64_t end, bool may_execute)
{
    struct interval known;

    (void)context;
    mutex_lock(&log.lock);
    if (interval_map_find(&log.known, start, &known))
        start = known.start;
    if (interval_map_find(&log.known, end - 1, &known))
        end = known.end;
    may_execute |= interval_map_overlaps(&log.known, start, end);
    unload(start, end);
    /* Without /proc nothing is known of files. */
    if (may_execute)
        (void)!mapping_list_visit(start, end, load, NULL);
    mutex_unlock(&log.lock);
}

const struct mapping_watcher *module_log_begin(struct ring_region *ring)
{
    static const struct mapping_watcher watcher = {.changed = changed};

    log.ring = ring;
    changed(NULL, 0, UINT64_MAX, true);
    return &watcher;
}

void module_log_end(void)
{
    interval_map_deinit(&log.known);
}

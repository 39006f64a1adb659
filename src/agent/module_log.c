/* SPDX-License-Identifier: MIT */
/*
 * Modules that are known are kept by their ranges, so that what goes can be told too. A range that is mapped anew, in
 * part or as a whole, is looked at anew: what was there is unloaded, what is there now is loaded. Their build IDs are
 * read from memory, where they are also when the file is gone.
 */
#include "agent/module_log.h"

#include "agent/call_stack.h"
#include "agent/selection.h"
#include "base/interval_map.h"
#include "base/memory_map.h"
#include "base/time_counter.h"
#include "elf/build_id.h"
#include "process/mapping_list.h"
#include "ring/ring_region.h"
#include "stalker/program_memory.h"

static struct module_log {
    struct mutex lock;
    struct ring_region *ring;
    struct code_source *source; /* NULL: nobody learns from this */
    struct interval_map known;
    bool is_selected;      /* what is loaded was looked through for functions already */
    struct mapping header; /* of the mappings visited so far, the last one that is the beginning of a file */
} log;

/* The part of the mappings that has changed. */
struct mapping_change {
    uint64_t start;
    uint64_t end;
};

/* Headers are read a few bytes at a time, from one page: the context is that page, once it was found readable. */
static bool read_memory(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    uint64_t *page = context, first = address / MEMORY_PAGE_MIN, last = (address + size_bytes - 1) / MEMORY_PAGE_MIN;

    if (size_bytes < sizeof(uint64_t))
        return false;
    if ((first != *page || last != *page) && !program_memory_is_readable(address, size_bytes))
        return false;
    *page = last;
    __builtin_memcpy(bytes_out, (const void *)(uintptr_t)address, size_bytes);
    return true;
}

/* The ELF header is where the beginning of the same file is mapped, below its code. */
static void find_build_id(const struct mapping *mapping, struct ring_module *module)
{
    uint64_t page = 0;
    const struct elf_memory memory = {.context = &page, .read = read_memory};
    size_t size_bytes = 0;

    if (log.header.path_length == mapping->path_length &&
        __builtin_memcmp(log.header.path, mapping->path, mapping->path_length) == 0 &&
        elf_build_id_read(&memory, log.header.start, module->build_id, sizeof(module->build_id), &size_bytes) == 0)
        module->build_id_bytes = (uint32_t)size_bytes;
}

/* The same for all parts of a file that is mapped in one go. */
static uint64_t identity_of(const struct mapping *mapping)
{
    uint64_t identity = mapping->start - mapping->file_offset;

    for (size_t i = 0; i < mapping->path_length; i++)
        identity = (identity ^ (uint8_t)mapping->path[i]) * 0x100000001b3u;
    return identity;
}

static void load(const struct mapping *mapping)
{
    struct ring_module module = {
        .is_loaded = 1,
        .time = time_counter(),
        .start = mapping->start,
        .end = mapping->end,
        .file_offset = mapping->file_offset,
        .path_bytes = (uint32_t)mapping->path_length,
    };

    find_build_id(mapping, &module);
    /* Without memory for it nobody is told when it goes. */
    (void)!interval_map_insert(&log.known, mapping->start, mapping->end, identity_of(mapping));
    (void)ring_region_add_module(log.ring, &module, mapping->path);
    call_stack_modules_changed();
    if (!log.is_selected)
        selection_module_loaded(mapping);
}

static void visit(void *context, const struct mapping *mapping)
{
    const struct mapping_change *change = context;

    if (log.source != NULL)
        code_source_learn(log.source, mapping);
    if (mapping->path_length == 0)
        return;
    if (mapping->file_offset == 0)
        log.header = *mapping;
    if (mapping->is_executable && mapping->start < change->end && mapping->end > change->start)
        load(mapping);
}

static void unload(uint64_t start, uint64_t end)
{
    for (size_t i = interval_map_index_from(&log.known, start); i < interval_map_count(&log.known); i++) {
        const struct interval *known = interval_map_at(&log.known, i);
        struct ring_module module = {.time = time_counter(), .start = known->start, .end = known->end};

        if (known->start >= end)
            break;
        (void)ring_region_add_module(log.ring, &module, "");
        call_stack_modules_changed();
        selection_module_unloaded(known->start, known->end);
    }
    /* Whole ranges go, so nothing is split and no memory is needed. */
    (void)!interval_map_remove(&log.known, start, end);
}

/* The first and last address of modules that a range is part of: all of them are looked at anew. */
static void changed(void *context, uint64_t start, uint64_t end, bool may_execute)
{
    struct mapping_change change = {start, end};
    struct interval known;

    (void)context;
    mutex_lock(&log.lock);
    /* What is mapped right behind code is the rest of its file: only then can its frames be understood. */
    if (start != 0 && interval_map_find(&log.known, start - 1, &known))
        call_stack_modules_changed();
    if (interval_map_find(&log.known, start, &known))
        change.start = known.start;
    if (interval_map_find(&log.known, end - 1, &known))
        change.end = known.end;
    may_execute |= interval_map_overlaps(&log.known, change.start, change.end);
    unload(change.start, change.end);
    log.header.path_length = 0;
    /* Without /proc nothing is known of files. Their beginnings are below what has changed. */
    if (may_execute)
        (void)!mapping_list_visit(0, change.end, visit, &change);
    mutex_unlock(&log.lock);
}

/* What is there now, as far as there is memory for it. */
struct second_look {
    struct interval_map there;
    bool is_complete;
};

static void visit_again(void *context, const struct mapping *mapping)
{
    struct second_look *look = context;
    struct interval known;

    if (mapping->path_length == 0)
        return;
    if (mapping->file_offset == 0)
        log.header = *mapping;
    if (!mapping->is_executable)
        return;
    if (interval_map_insert(&look->there, mapping->start, mapping->end, 0) != 0)
        look->is_complete = false;
    if (interval_map_find(&log.known, mapping->start, &known) && mapping->end <= known.end &&
        known.value == identity_of(mapping))
        return;
    unload(mapping->start, mapping->end);
    load(mapping);
}

/* Of a module whose access was changed in part there are several mappings. */
static void unload_gone(const struct second_look *look)
{
    size_t i = 0;

    while (i < interval_map_count(&log.known)) {
        const struct interval known = *interval_map_at(&log.known, i);

        if (interval_map_overlaps(&look->there, known.start, known.end))
            i++;
        else
            unload(known.start, known.end);
    }
}

void module_log_look_again(void)
{
    struct second_look look = {.is_complete = true};

    interval_map_init(&look.there);
    mutex_lock(&log.lock);
    log.header.path_length = 0;
    if (mapping_list_visit(0, UINT64_MAX, visit_again, &look) == 0 && look.is_complete)
        unload_gone(&look);
    mutex_unlock(&log.lock);
    interval_map_deinit(&look.there);
}

const struct mapping_watcher *module_log_begin(struct ring_region *ring, struct code_source *source)
{
    static const struct mapping_watcher watcher = {.changed = changed};

    log.ring = ring;
    log.source = source;
    changed(NULL, 0, UINT64_MAX, true);
    return &watcher;
}

void module_log_begin_in_child(void)
{
    /*
     * A thread that is not here may have been in the middle of a change: then the map is no good. Otherwise nothing is
     * new but the ring.
     */
    log.is_selected = mutex_try_lock(&log.lock);
    if (log.is_selected)
        interval_map_deinit(&log.known);
    log.lock = (struct mutex){0};
    interval_map_init(&log.known);
    changed(NULL, 0, UINT64_MAX, true);
    log.is_selected = false;
}

void module_log_end(void)
{
    log.source = NULL;
    interval_map_deinit(&log.known);
}

/* SPDX-License-Identifier: MIT */
/*
 * Threads share the list of units that are wanted and take them one by one, and the bytes of the file, but nothing
 * else.
 *
 * A build ID names the code, not the debug information, of which there may be several forms. Units are named by places
 * in it: before one of them is read, it is looked whether they are those that the cache knows.
 */
#include "symbolize/source_lines.h"

#include "symbolize/dwarf/dwarf_code.h"
#include "symbolize/symbolizer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS_MAX      64
#define UNITS_FOR_THREAD 8 /* fewer are not worth another thread */

void source_lines_open(struct source_lines *lines, const char *path, const char *debug_folders,
                       struct code_table_cache_name name)
{
    *lines = (struct source_lines){.path = path, .debug_folders = debug_folders, .name = name, .cache_fd = -1};
}

void source_lines_close(struct source_lines *lines)
{
    /* If it cannot be kept, it is found again next time. */
    if (lines->has_new)
        (void)!code_table_cache_write(&lines->name, &lines->units, lines->cache_fd);
    if (lines->cache_fd >= 0)
        close(lines->cache_fd);
    dwarf_code_close(lines->code);
    code_units_deinit(&lines->units);
    code_units_deinit(&lines->former);
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

static int read_units(struct dwarf_code *code, struct code_units *units_out)
{
    struct dwarf_range *ranges;
    size_t count;
    int result = dwarf_code_ranges(code, &ranges, &count);

    if (result != 0)
        return result;
    result = code_units_make(units_out, ranges, count);
    free(ranges);
    return result;
}

/* The cache has units of other debug information. Tables that were given to somebody stay. */
static void replace_units(struct source_lines *lines, const struct code_units *units)
{
    lines->former = lines->units;
    lines->units = *units;
    if (lines->cache_fd >= 0)
        close(lines->cache_fd);
    lines->cache_fd = -1;
}

static bool open_code(struct source_lines *lines)
{
    struct code_units units;

    if (lines->code != NULL || lines->has_no_code)
        return lines->code != NULL;
    lines->has_no_code = true;
    if (dwarf_code_open(lines->path, lines->debug_folders, &lines->code) != 0)
        return false;
    if (read_units(lines->code, &units) != 0) {
        dwarf_code_close(lines->code);
        lines->code = NULL;
        return false;
    }
    lines->has_no_code = false;
    if (code_units_are_same(&lines->units, &units))
        code_units_deinit(&units);
    else
        replace_units(lines, &units);
    return true;
}

static void look_up_units(struct source_lines *lines)
{
    if (lines->is_looked_up)
        return;
    lines->is_looked_up = true;
    if (code_table_cache_open(&lines->name, &lines->units, &lines->cache_fd) != 0) {
        lines->cache_fd = -1;
        (void)open_code(lines);
    }
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static void read_kept(struct source_lines *lines, struct code_unit *unit)
{
    if (unit->state == CODE_UNIT_NEW && unit->kept_bytes != 0 && lines->cache_fd >= 0 &&
        code_table_cache_read(lines->cache_fd, unit) != 0)
        unit->kept_bytes = 0;
}

static void make_table(struct dwarf_code *code, struct code_unit *unit)
{
    size_t size_bytes;
    void *block;

    unit->state = CODE_UNIT_EMPTY;
    if (dwarf_code_make_table(code, unit->unit, &block, &size_bytes, &unit->is_whole) == 0 &&
        code_unit_set_table(unit, block, size_bytes) != 0)
        free(block);
}

static void report(const struct source_lines *lines, size_t done, size_t total)
{
    if (lines->watch != NULL && lines->watch->report != NULL)
        lines->watch->report(lines->watch->context, done, total);
}

static void note_new(struct source_lines *lines, const struct code_unit *unit)
{
    if (unit->state == CODE_UNIT_READY && unit->is_whole && !unit->is_from_cache)
        lines->has_new = true;
}

/* False: the units have been replaced by others. */
static bool get_table(struct source_lines *lines, struct code_unit *unit)
{
    read_kept(lines, unit);
    if (unit->state != CODE_UNIT_NEW)
        return true;
    if (lines->code == NULL) {
        const struct code_unit *before = lines->units.units;

        (void)open_code(lines);
        if (lines->units.units != before)
            return false;
    }
    if (lines->code != NULL) {
        make_table(lines->code, unit);
        report(lines, ++lines->made_count, 0);
    }
    note_new(lines, unit);
    return true;
}

static bool find_in(const struct code_unit *unit, uint64_t address, struct source_place *place_out)
{
    if (unit->state != CODE_UNIT_READY)
        return false;
    place_out->table = &unit->table;
    place_out->scope = code_table_scope(&unit->table, address);
    place_out->line = code_table_line(&unit->table, address);
    return place_out->scope != NULL || place_out->line != NULL;
}

bool source_lines_find(struct source_lines *lines, uint64_t address, struct source_place *place_out)
{
    struct code_unit *unit;
    size_t cursor = 0;

    look_up_units(lines);
    while ((unit = code_units_next(&lines->units, address, &cursor)) != NULL) {
        if (!get_table(lines, unit)) {
            cursor = 0;
            continue;
        }
        if (find_in(unit, address, place_out))
            return true;
    }
    return false;
}

/* ---- many -------------------------------------------------------------------------------------------------------- */

struct lines_work {
    struct source_lines *lines;
    struct code_unit **units;
    size_t count;
    atomic_size_t next;
    atomic_size_t done;
};

/* The thread that asks does as much as the others do. */
static void make_tables(struct lines_work *work, struct dwarf_code *code, bool is_asking)
{
    size_t which, done;

    /* Relaxed: each number is taken once, and whoever waits for the threads sees what they did. */
    while ((which = atomic_fetch_add_explicit(&work->next, 1, memory_order_relaxed)) < work->count) {
        make_table(code, work->units[which]);
        done = 1 + atomic_fetch_add_explicit(&work->done, 1, memory_order_relaxed);
        if (is_asking)
            report(work->lines, done, work->count);
    }
}

static void *run(void *context)
{
    struct lines_work *work = context;
    struct dwarf_code *code;

    if (dwarf_code_share(work->lines->code, &code) != 0)
        return NULL;
    make_tables(work, code, false);
    dwarf_code_close(code);
    return NULL;
}

static void run_all(struct lines_work *work, unsigned thread_count)
{
    size_t wanted = work->count / UNITS_FOR_THREAD + 1;
    pthread_t threads[THREADS_MAX];
    size_t started = 0;

    if (wanted > thread_count)
        wanted = thread_count;
    if (wanted > THREADS_MAX)
        wanted = THREADS_MAX;
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, run, work) == 0)
        started++;
    make_tables(work, work->lines->code, true);
    for (size_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
}

static int compare_units(const void *left_unit, const void *right_unit)
{
    struct code_unit *const *left = left_unit, *const *right = right_unit;

    return *left < *right ? -1 : *left > *right;
}

/* The units that have none of the tables that they will need, each once. */
static size_t choose(struct source_lines *lines, const uint64_t *addresses, size_t count, struct code_unit **units)
{
    const struct code_unit *last = NULL;
    struct code_unit *unit;
    size_t used = 0, left = 0;

    for (size_t i = 0; i < count; i++) {
        size_t cursor = 0;

        unit = code_units_next(&lines->units, addresses[i], &cursor);
        if (unit == NULL || unit == last)
            continue;
        last = unit;
        read_kept(lines, unit);
        if (unit->state == CODE_UNIT_NEW)
            units[used++] = unit;
    }
    if (used != 0)
        qsort(units, used, sizeof(units[0]), compare_units);
    for (size_t i = 0; i < used; i++)
        if (left == 0 || units[left - 1] != units[i])
            units[left++] = units[i];
    return left;
}

void source_lines_prepare(struct source_lines *lines, const uint64_t *addresses, size_t count, unsigned thread_count)
{
    struct lines_work work = {.lines = lines};

    look_up_units(lines);
    work.units = calloc(count + 1, sizeof(struct code_unit *));
    if (work.units == NULL)
        return;
    work.count = choose(lines, addresses, count, work.units);
    if (work.count != 0 && lines->code == NULL) {
        /* The units may be replaced by this. */
        (void)open_code(lines);
        work.count = choose(lines, addresses, count, work.units);
    }
    if (work.count != 0 && lines->code != NULL)
        run_all(&work, thread_count);
    for (size_t i = 0; i < work.count; i++)
        note_new(lines, work.units[i]);
    free(work.units);
}

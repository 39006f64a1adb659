/* SPDX-License-Identifier: MIT */
/* The path of the open calls of the thread that is read is kept by depth, up to the longest that is distinguished. */
#include "export/call_paths.h"

#include "hosted/error_text.h"
#include "hosted/growing_array.h"

#include <errno.h>
#include <stdlib.h>

#define PATHS_AT_FIRST 1024u

struct path_reading {
    struct call_paths *paths;
    uint32_t open[CALL_PATH_MAX]; /* by depth */
};

static uint64_t key_of(const struct call_path *path)
{
    return (uint64_t)path->parent << 32 | path->function;
}

static int add(struct call_paths *paths, const struct call_path *path)
{
    if (paths->count >= CALL_PATH_NONE || ARRAY_RESERVE(paths->paths, paths->capacity, paths->count + 1) != 0)
        return -ENOMEM;
    if (hash_map_set(&paths->numbers, key_of(path), paths->count) != 0)
        return -ENOMEM;
    /* Nobody else looks. */
    hash_map_reclaim(&paths->numbers);
    paths->paths[paths->count++] = *path;
    return 0;
}

static int find(struct call_paths *paths, struct call_path *wanted, uint32_t *path_out)
{
    uint64_t first = CALL_PATH_NONE;

    (void)hash_map_lookup(&paths->numbers, key_of(wanted), &first);
    for (uint32_t at = (uint32_t)first; at != CALL_PATH_NONE; at = paths->paths[at].next)
        if (paths->paths[at].thread == wanted->thread) {
            *path_out = at;
            return 0;
        }
    wanted->next = (uint32_t)first;
    *path_out = (uint32_t)paths->count;
    return add(paths, wanted);
}

static uint32_t place_of(uint32_t depth)
{
    return depth < CALL_PATH_MAX ? depth : CALL_PATH_MAX - 1;
}

static int take_begin(void *context, const struct export_call *call)
{
    struct path_reading *reading = context;
    uint32_t place = place_of(call->depth);
    struct call_path wanted = {.parent = place == 0 ? CALL_PATH_NONE : reading->open[place - 1],
                               .function = call->function,
                               .thread = call->thread};

    return find(reading->paths, &wanted, &reading->open[place]);
}

static int take_end(void *context, const struct export_call *call)
{
    struct path_reading *reading = context;
    struct call_path *path;

    /* Where deep calls share a place, somebody else may have been there since. */
    if (call->depth >= CALL_PATH_MAX - 1 && take_begin(context, call) != 0)
        return -ENOMEM;
    path = &reading->paths->paths[reading->open[place_of(call->depth)]];
    path->call_count += !(call->flags & CALL_RESUMED);
    reading->paths->entry_only_count += (call->flags & CALL_ENTRY_ONLY) != 0;
    reading->paths->guessed_count += (call->flags & CALL_GUESSED) != 0;
    path->self_ns += call->end_ns - call->begin_ns - call->inner_ns;
    return 0;
}

static int take_gap(void *context, size_t thread, uint64_t time_ns, uint64_t lost_bytes)
{
    struct path_reading *reading = context;

    (void)thread;
    (void)time_ns;
    reading->paths->gap_count++;
    reading->paths->lost_bytes += lost_bytes;
    return 0;
}

int call_paths_read(struct call_paths *paths, const struct export_job *job, struct gait_error *err)
{
    struct path_reading reading = {.paths = paths};
    const struct export_receiver receiver = {take_begin, take_end, take_gap, &reading};
    int result;

    *paths = (struct call_paths){.count = 0};
    result = hash_map_init(&paths->numbers, PATHS_AT_FIRST);
    if (result != 0)
        return error_set(err, result, "cannot export the calls: there is no memory");
    return export_calls_read_all(job, &receiver, err);
}

void call_paths_deinit(struct call_paths *paths)
{
    hash_map_deinit(&paths->numbers);
    free(paths->paths);
    *paths = (struct call_paths){.count = 0};
}

/* SPDX-License-Identifier: MIT */
/* Whoever asks keeps the answers, so that the lock is taken once for each function and thread, not for each call. */
#include "view/call_groups.h"

#include "hosted/growing_array.h"
#include "view/function_pattern.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES 8192u

/* Threads are groups from the beginning, with their own numbers. */
static int add_threads(struct call_groups *groups)
{
    size_t count = groups->trace->thread_count;

    groups->groups = calloc(count + 1, sizeof(*groups->groups));
    if (groups->groups == NULL)
        return -ENOMEM;
    groups->count = groups->capacity = count;
    for (size_t i = 0; i < count; i++)
        groups->groups[i].function = VIEW_NO_FUNCTION;
    return 0;
}

int call_groups_init(struct call_groups *groups, const struct view_trace *trace, enum call_group_kind kind,
                     const char *filter)
{
    int result;

    *groups = (struct call_groups){.trace = trace, .kind = kind, .filter = filter};
    result = text_numbers_init(&groups->keys);
    if (result != 0)
        return result;
    result = view_functions_init(&groups->functions, trace);
    if (result != 0) {
        text_numbers_deinit(&groups->keys);
        return result;
    }
    symbolizer_init(&groups->symbolizer, NULL);
    symbolizer_use_trace(&groups->symbolizer, trace->files.folder);
    pthread_mutex_init(&groups->lock, NULL);
    if (kind == CALL_GROUP_THREAD)
        result = add_threads(groups);
    if (result != 0)
        call_groups_deinit(groups);
    return result;
}

void call_groups_deinit(struct call_groups *groups)
{
    symbolizer_deinit(&groups->symbolizer);
    view_functions_deinit(&groups->functions);
    text_numbers_deinit(&groups->keys);
    free(groups->groups);
    pthread_mutex_destroy(&groups->lock);
}

const char *call_groups_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

/* ---- filters ----------------------------------------------------------------------------------------------------- */

static bool passes(struct call_groups *groups, uint32_t number)
{
    return groups->filter == NULL ||
           function_pattern_matches(&groups->functions, groups->filter, view_functions_at(&groups->functions, number));
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* Where a call goes. */
struct call_place {
    const struct view_process *process;
    const struct recorded_module *module; /* NULL: none was there */
    uint64_t address;
};

/* The place in the source where a function begins. */
static void find_source(struct call_groups *groups, const struct call_place *place, struct call_group *group)
{
    struct symbol_function function;

    if (place->module == NULL)
        return;
    symbolizer_find_function(&groups->symbolizer, place->module, place->address, &function);
    group->file = function.file;
    group->line = function.file == NULL ? 0 : function.line;
}

static size_t put_build_id(const struct recorded_module *module, char *text)
{
    for (uint32_t i = 0; i < module->build_id_bytes; i++)
        sprintf(text + 2 * (size_t)i, "%02x", module->build_id[i]);
    text[2 * (size_t)module->build_id_bytes] = '\0';
    return 2 * (size_t)module->build_id_bytes;
}

/* Functions with the same key are in the same group. */
static void write_key(const struct call_groups *groups, const struct call_place *place, const struct call_group *group,
                      char *key)
{
    const struct recorded_module *module = place->module;
    char build_id[2 * sizeof(module->build_id) + 1];

    if (groups->kind == CALL_GROUP_FILE)
        snprintf(key, KEY_BYTES, "%s", group->file == NULL ? "" : group->file);
    else if (groups->kind == CALL_GROUP_LINE)
        snprintf(key, KEY_BYTES, "%" PRIu32 " %s", group->line, group->file == NULL ? "" : group->file);
    else if (groups->kind == CALL_GROUP_MODULE)
        snprintf(key, KEY_BYTES, "%s", module == NULL ? "" : module->path);
    else if (module == NULL)
        snprintf(key, KEY_BYTES, "%" PRIu32 " %" PRIu32 " %" PRIx64, place->process->pid, place->process->image,
                 place->address);
    else
        snprintf(key, KEY_BYTES, "%" PRIx64 " %.*s %s", place->address - module->start + module->file_offset,
                 (int)put_build_id(module, build_id), build_id, module->path);
}

static int add_group(struct call_groups *groups, const struct call_group *group)
{
    if (groups->count >= CALL_GROUP_NONE || ARRAY_RESERVE(groups->groups, groups->capacity, groups->count + 1) != 0)
        return -ENOMEM;
    groups->groups[groups->count++] = *group;
    return 0;
}

/* REQUIRES(&groups->lock) */
static int find_group(struct call_groups *groups, uint32_t number, const struct call_place *place, uint32_t *group_out)
{
    struct call_group group = {.function = number};
    char key[KEY_BYTES];
    size_t at;
    int result;

    if (groups->kind == CALL_GROUP_FILE || groups->kind == CALL_GROUP_LINE)
        find_source(groups, place, &group);
    write_key(groups, place, &group, key);
    result = text_numbers_obtain(&groups->keys, key, &at);
    if (result == 0 && at == groups->count)
        result = add_group(groups, &group);
    if (result == 0)
        *group_out = (uint32_t)at;
    return result;
}

/* Until when, and since when, the same was mapped at an address. */
static void find_times(const struct modules *modules, uint64_t address, uint64_t time, struct call_group_answer *answer)
{
    answer->from = 0;
    answer->to = UINT64_MAX;
    for (size_t i = 0; i < modules->count; i++) {
        const struct recorded_module *module = &modules->modules[i];
        const uint64_t changes[] = {module->loaded, module->unloaded};

        if (address < module->start || address >= module->end)
            continue;
        for (size_t j = 0; j < 2; j++)
            if (changes[j] <= time && changes[j] > answer->from)
                answer->from = changes[j];
            else if (changes[j] > time && changes[j] < answer->to)
                answer->to = changes[j];
    }
    /* Shortly before something is mapped there, it may be meant already: how shortly is not decided here. */
    if (modules_find(modules, address, time, time) == NULL && answer->to != UINT64_MAX) {
        answer->from = time;
        answer->to = time + 1;
    }
}

int call_groups_find(struct call_groups *groups, size_t thread, uint64_t address, uint64_t time,
                     struct call_group_answer *answer_out)
{
    size_t process = groups->trace->threads[thread].process;
    struct call_place place = {.process = &groups->trace->processes[process], .address = address};
    struct call_group_answer answer = {.group = (uint32_t)thread};
    uint32_t number;
    int result = 0;

    find_times(&place.process->modules, address, time, &answer);
    pthread_mutex_lock(&groups->lock);
    number = view_functions_number(&groups->functions, process, address, time);
    if (number != VIEW_NO_FUNCTION)
        place.module = view_functions_module(&groups->functions, number);
    if (number == VIEW_NO_FUNCTION)
        result = -ENOMEM;
    else if (!passes(groups, number))
        answer.group = CALL_GROUP_NONE;
    else if (groups->kind != CALL_GROUP_THREAD)
        result = find_group(groups, number, &place, &answer.group);
    pthread_mutex_unlock(&groups->lock);
    if (result == 0)
        *answer_out = answer;
    return result;
}

const struct view_function *call_groups_function(struct call_groups *groups, uint32_t group)
{
    uint32_t number = groups->groups[group].function;

    return number == VIEW_NO_FUNCTION ? NULL : view_functions_at(&groups->functions, number);
}

bool call_groups_know_source(const struct call_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++)
        if (groups->groups[i].file != NULL)
            return true;
    return false;
}

/* SPDX-License-Identifier: MIT */
/*
 * The engine's parts, made and given back. Invariant: no two caches in the list have the same configuration.
 */
#include "stalker/stalker_engine.h"

#include "arch/engine.h"
#include "base/code_memory.h"
#include "base/memory_map.h"
#include "process/mapping_list.h"
#include "process/thread_list.h"
#include "stalker/follow.h"
#include "stalker/stalker_gate.h"
#include "stalker/system_call.h"
#include "stalker/thread.h"

#include <asm/errno.h>

static int init_parts(struct stalker_engine *engine)
{
    int result = hash_map_init(&engine->natives, 64);
    void *draft;

    if (result == 0)
        result = hash_map_init(&engine->nothing, 1);
    if (result == 0)
        result = hash_map_init(&engine->probe_points, 16);
    slab_init(&engine->probe_memory, 0);
    interval_map_init(&engine->probe_borders);
    if (result == 0)
        result = memory_map(engine->machine->emit->draft_bytes, &draft);
    if (result == 0) {
        engine->draft = draft;
        result = system_call_table_create(&engine->system_calls);
    }
    if (result == 0)
        result = call_pieces_init(&engine->pieces);
    return result;
}

/* What the system allows is found out now, while somebody can be told, and is the same for all slabs. */
static int choose_view(struct stalker_engine_options *options)
{
    struct code_memory_options trial = {.size_bytes = 1, .mode = options->view};
    struct code_memory *memory;
    int result = code_memory_create(&trial, &memory);

    if (result != 0)
        return result;
    options->view = code_memory_mode(memory);
    /* Code that may not be written while it runs cannot be patched. */
    if (!code_memory_patches_are_live(memory))
        options->without_links = true;
    code_memory_destroy(memory);
    return 0;
}

int stalker_engine_create(const struct stalker_engine_options *options, struct stalker_engine **engine_out)
{
    struct stalker_engine *engine;
    void *storage;
    int result;

    if (engine_host() == NULL)
        return -EOPNOTSUPP;
    result = memory_map(sizeof(*engine), &storage);
    if (result != 0)
        return result;
    engine = storage;
    engine->options = *options;
    engine->machine = engine_host();
    list_init(&engine->threads);
    list_init(&engine->parked);
    interval_map_init(&engine->exclusions.ranges);
    quiet_ranges_init(&engine->quiet);
    code_source_init(&engine->source);
    result = init_parts(engine);
    if (result == 0)
        result = choose_view(&engine->options);
    if (result != 0) {
        stalker_engine_destroy(engine);
        return result;
    }
    *engine_out = engine;
    return 0;
}

/* Those that have left. One that is leaving right now may still be in its gate; what it needs stays. */
static void destroy_threads(struct stalker_engine *engine)
{
    LIST_FOR_EACH_REMOVABLE (node, &engine->parked) {
        struct stalker_thread *thread = LIST_ELEMENT(node, struct stalker_thread, node);

        if (thread->tid != stalker_current_tid() && thread_exists(thread->tid))
            continue;
        list_remove(node);
        stalker_thread_destroy(thread);
    }
}

void stalker_engine_destroy(struct stalker_engine *engine)
{
    if (engine == NULL)
        return;
    destroy_threads(engine);
    for (struct code_cache *cache = engine->caches, *next; cache != NULL; cache = next) {
        next = cache->next;
        code_cache_destroy(cache);
    }
    code_source_deinit(&engine->source);
    interval_map_deinit(&engine->exclusions.ranges);
    quiet_ranges_deinit(&engine->quiet);
    hash_map_deinit(&engine->natives);
    hash_map_deinit(&engine->nothing);
    hash_map_deinit(&engine->probe_points);
    interval_map_deinit(&engine->probe_borders);
    slab_deinit(&engine->probe_memory);
    memory_unmap(engine->draft, engine->machine->emit->draft_bytes);
    system_call_table_destroy(engine->system_calls);
    call_pieces_deinit(&engine->pieces);
    memory_unmap(engine, sizeof(*engine));
}

int stalker_engine_add_native(struct stalker_engine *engine, struct app_pc function)
{
    /* Whoever is to call it natively comes later. */
    atomic_store_explicit(&engine->has_natives, true, memory_order_relaxed);
    return hash_map_set(&engine->natives, function.value, 1);
}

static void found(void *context, const struct mapping *mapping)
{
    *(bool *)context = mapping->is_executable;
}

/* Kernels need not have them; then the program gets its signal. */
static bool is_unreadable_function(const struct stalker_engine *engine, struct app_pc pc)
{
    bool is_there = false;

    for (const uint64_t *function = engine->machine->emit->unreadable_functions; function != NULL && *function != 0;
         function++)
        if (*function == pc.value)
            return mapping_list_visit(pc.value, pc.value + 1, found, &is_there) == 0 && is_there;
    return false;
}

bool stalker_engine_is_native(const struct stalker_engine *engine, struct app_pc function)
{
    uint64_t value;

    if (atomic_load_explicit(&engine->has_natives, memory_order_relaxed) &&
        hash_map_lookup(&engine->natives, function.value, &value))
        return true;
    return is_unreadable_function(engine, function);
}

static bool is_same(const struct follow_configuration *a, const struct follow_configuration *b)
{
    return a->events == b->events && a->times == b->times && a->ring == b->ring && a->transformer == b->transformer &&
           a->is_quiet == b->is_quiet && a->is_paused == b->is_paused;
}

/* Where the cache of a configuration is in the list, or where the list ends. */
static struct code_cache **find_place(struct stalker_engine *engine, const struct follow_configuration *configuration)
{
    struct code_cache **place = &engine->caches;

    while (*place != NULL && !is_same(&(*place)->configuration, configuration))
        place = &(*place)->next;
    return place;
}

struct code_cache *stalker_engine_find_cache(struct stalker_engine *engine,
                                             const struct follow_configuration *configuration)
{
    return *find_place(engine, configuration);
}

int stalker_engine_cache(struct stalker_engine *engine, const struct follow_configuration *configuration,
                         struct code_cache **cache_out)
{
    struct code_cache_options options = {
        .engine = engine,
        .configuration = *configuration,
        .indirect_missing = cache_pc_of((uintptr_t)stalker_gate_indirect),
    };
    struct code_cache **place = find_place(engine, configuration);

    if (*place == NULL) {
        int result = code_cache_create(&options, place);

        if (result != 0)
            return result;
    }
    *cache_out = *place;
    return 0;
}

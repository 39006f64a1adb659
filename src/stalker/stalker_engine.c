/* SPDX-License-Identifier: MIT */
/*
 * The engine's parts, made and given back. Invariant: no two caches in the list have the same configuration.
 */
#include "stalker/stalker_engine.h"

#include "arch/engine.h"
#include "base/code_memory.h"
#include "base/memory_map.h"
#include "gait/stalker.h"
#include "process/mapping_list.h"
#include "process/thread_list.h"
#include "stalker/follow.h"
#include "stalker/stalker_gate.h"
#include "stalker/system_call.h"
#include "stalker/thread.h"
#include "stalker/trail.h"
#include "stalker/vectors.h"

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

/* ---- figures ----------------------------------------------------------------------------------------------------- */

/* Adds up what caches and threads know of themselves, each under its lock. */

static void add_cache(struct code_cache *cache, struct gait_stalker_statistics *statistics)
{
    mutex_lock(&cache->lock);
    statistics->blocks += hash_map_count(&cache->blocks);
    for (const struct cache_slab *slab = cache->slabs; slab != NULL; slab = slab->next)
        statistics->code_bytes += code_memory_committed(slab->hot) + code_memory_committed(slab->cold);
    statistics->memory_bytes += code_cache_memory(cache);
    mutex_unlock(&cache->lock);
}

static void add_threads(struct stalker_engine *engine, struct gait_stalker_statistics *statistics)
    REQUIRES(engine->lock)
{
    LIST_FOR_EACH (node, &engine->threads) {
        const struct stalker_thread *thread = LIST_ELEMENT(node, struct stalker_thread, node);

        statistics->threads++;
        if (thread->events != NULL)
            statistics->event_bytes_lost += thread->events->lost_bytes;
    }
    statistics->event_bytes_lost += engine->event_bytes_lost;
}

void stalker_statistics_read(struct stalker_engine *engine, struct gait_stalker_statistics *statistics_out)
{
    size_t size_bytes = statistics_out->size_bytes;

    *statistics_out = (struct gait_stalker_statistics){.size_bytes = size_bytes};
    mutex_lock(&engine->lock);
    add_threads(engine, statistics_out);
    for (struct code_cache *cache = engine->caches; cache != NULL; cache = cache->next)
        add_cache(cache, statistics_out);
    mutex_unlock(&engine->lock);
}

/* ---- looking at blocks ------------------------------------------------------------------------------------------- */

/* Reads maps and trails under the cache's lock. The trail is asked for no thread in particular. Stateless. */

int block_lookup(struct stalker_engine *engine, const struct follow_configuration *configuration, struct app_pc start,
                 struct block_extent *extent_out)
{
    const struct block *block = NULL;
    struct code_place place;
    struct code_cache *cache;

    mutex_lock(&engine->lock);
    cache = stalker_engine_find_cache(engine, configuration);
    if (cache != NULL) {
        mutex_lock(&cache->lock);
        block = code_cache_find(cache, start);
        if (block != NULL && code_cache_place_at(cache, block_code(block), &place))
            *extent_out = (struct block_extent){start, block->size_bytes, place.start, place.size_bytes};
        else
            block = NULL;
        mutex_unlock(&cache->lock);
    }
    mutex_unlock(&engine->lock);
    return block == NULL ? -ENOENT : 0;
}

/* What the trail says with registers of no thread; it counts only if it is an address of the block. */
static int original_of(struct code_cache *cache, struct cache_pc pc, struct app_pc *original_out) REQUIRES(cache->lock)
{
    struct gait_cpu_context cpu = {.pc = pc.value};
    struct stalker_thread nobody = {.engine = cache->engine, .cache = cache};
    struct code_place place;

    if (!code_cache_place_at(cache, pc, &place) || trail_recover(&nobody, &place, &cpu) != 0)
        return -ENOENT;
    if (cpu.pc - place.block->start.value > place.block->size_bytes)
        return -ENOENT;
    *original_out = app_pc_of(cpu.pc);
    return 0;
}

int block_lookup_original(struct stalker_engine *engine, const struct follow_configuration *configuration,
                          struct cache_pc place, struct app_pc *original_out)
{
    struct code_cache *cache;
    int result = -ENOENT;

    mutex_lock(&engine->lock);
    cache = stalker_engine_find_cache(engine, configuration);
    if (cache != NULL) {
        mutex_lock(&cache->lock);
        result = original_of(cache, place, original_out);
        mutex_unlock(&cache->lock);
    }
    mutex_unlock(&engine->lock);
    return result;
}

/* ---- the observer ------------------------------------------------------------------------------------------------ */

/*
 * The observer is the user's code: before it runs, on a followed thread, vector registers are set aside, once for each
 * time in the engine.
 */

void observer_set(struct stalker_engine *engine, const struct gait_observer *observer)
{
    /* Release: pairs with the acquire in observer_of. */
    atomic_store_explicit(&engine->observer, observer, memory_order_release);
}

static const struct gait_observer *observer_of(const struct stalker_engine *engine)
{
    return atomic_load_explicit(&engine->observer, memory_order_acquire);
}

static enum gait_entry entry_of(const struct stalker_thread *thread)
{
    static const uint8_t of_exits[] = {
        [BLOCK_EXIT_JUMP] = GAIT_ENTRY_BRANCH,
        [BLOCK_EXIT_ADJACENT] = GAIT_ENTRY_BRANCH,
        [BLOCK_EXIT_SYSTEM_CALL] = GAIT_ENTRY_SYSTEM_CALL,
        [BLOCK_EXIT_FOREIGN_CALL] = GAIT_ENTRY_SYSTEM_CALL,
        [BLOCK_EXIT_NATIVE_RETURN] = GAIT_ENTRY_NATIVE_RETURN,
        [BLOCK_EXIT_CHANGE_CACHE] = GAIT_ENTRY_EXCLUSION,
        [BLOCK_EXIT_LEAVE] = GAIT_ENTRY_LEAVE,
        [BLOCK_EXIT_NO_CODE] = GAIT_ENTRY_LEAVE,
    };

    switch ((enum stalker_reason)thread->reason) {
    case STALKER_EXIT:
        return of_exits[code_cache_exit(thread->cache, thread->exit)->kind];
    case STALKER_INDIRECT:
        return GAIT_ENTRY_INDIRECT;
    case STALKER_EVENTS:
        return GAIT_ENTRY_EVENTS;
    case STALKER_CHANGED:
        return GAIT_ENTRY_CHANGED;
    case STALKER_QUIET_END:
        return GAIT_ENTRY_EXCLUSION;
    case STALKER_CALLED:
        return GAIT_ENTRY_SYSTEM_CALL;
    default:
        return GAIT_ENTRY_BEGIN;
    }
}

void observer_entered(struct stalker_thread *thread)
{
    const struct gait_observer *observer = observer_of(thread->engine);

    if (observer == NULL)
        return;
    /* For the other functions, too: they are called on the way. */
    vectors_set_aside(thread);
    if (observer->entered != NULL)
        observer->entered(observer->context, entry_of(thread), (uint32_t)thread->tid);
}

void observer_translated(const struct code_cache *cache, const struct block *block)
{
    const struct gait_observer *observer = observer_of(cache->engine);

    if (observer != NULL && observer->translated != NULL)
        observer->translated(observer->context, block->start.value, block_end(block).value);
}

void observer_linked(const struct code_cache *cache, struct block_exit *exit, const struct block *to)
{
    const struct gait_observer *observer = observer_of(cache->engine);

    if (observer != NULL && observer->linked != NULL)
        observer->linked(observer->context, block_of_exit(exit)->start.value, to->start.value);
}

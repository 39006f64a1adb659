/* SPDX-License-Identifier: MIT */
/*
 * An address with probes has a point that stays as long as the engine; its probes are in a list that is never changed
 * but replaced, so that threads read it without a lock. Lists that were replaced are kept with the point, since
 * somebody may still be in them. Only the first and the last probe of an address change its translations.
 */
#include "stalker/call_probe.h"

#include "arch/engine.h"
#include "base/alignment.h"
#include "base/memory_map.h"
#include "stalker/callout.h"
#include "stalker/invalidate.h"
#include "stalker/program_memory.h"
#include "stalker/thread.h"
#include "stalker/translation.h"

#include <asm/errno.h>

#define WORD_BYTES 8u
#define WATCHES    2u

struct call_probe {
    gait_call_probe function;
    void *data;
    uint32_t id;
};

struct probe_list {
    size_t count;
    struct call_probe probes[];
};

struct probe_point {
    struct probe_list *_Atomic list; /* NULL: no probes */
    struct callout callout;
    struct callout watches[WATCHES]; /* without a function: there is none */
};

/* Whether there is a word at an address that the thread asks for again and again: the stack, which rarely changes. */
static bool is_stack_readable(struct stalker_thread *thread, uint64_t sp)
{
    uint64_t page = align_down(sp, MEMORY_PAGE_MIN);
    uint32_t changes = atomic_load_explicit(&thread->engine->mapping_changes, memory_order_relaxed);

    if (page + 1 == thread->stack_page && changes == thread->stack_page_changes &&
        sp - page <= MEMORY_PAGE_MIN - WORD_BYTES)
        return true;
    if (!program_memory_is_readable(sp, WORD_BYTES))
        return false;
    thread->stack_page = page + 1;
    thread->stack_page_changes = changes;
    return true;
}

/* Calls them all. A probe that changes the pc has the last word. */
static void call_all(struct gait_cpu_context *cpu, void *data)
{
    const struct probe_point *point = data;
    struct stalker_thread *thread = stalker_thread_of(cpu);
    /* Acquire: pairs with the release in replace_list. */
    const struct probe_list *list = atomic_load_explicit(&point->list, memory_order_acquire);
    uint64_t pc = cpu->pc;

    for (size_t i = 0; list != NULL && i < list->count && cpu->pc == pc; i++) {
        struct gait_call call = {.target = pc, .cpu = cpu};

        /* Nobody needs a stack to jump to a function. */
        if (is_stack_readable(thread, gait_cpu_stack_pointer(cpu))) {
            call.stack = (uint64_t *)(uintptr_t)gait_cpu_stack_pointer(cpu);
            call.return_address = gait_cpu_return_address(cpu);
        }
        list->probes[i].function(&call, list->probes[i].data);
    }
}

static struct probe_point *find_point(const struct stalker_engine *engine, uint64_t target)
{
    uint64_t value;

    /* Whoever adds the first has what was translated before forgotten. */
    if (!atomic_load_explicit(&engine->has_probes, memory_order_relaxed))
        return NULL;
    return hash_map_lookup(&engine->probe_points, target, &value) ? (struct probe_point *)(uintptr_t)value : NULL;
}

static struct probe_point *obtain_point(struct stalker_engine *engine, uint64_t target) REQUIRES(engine->lock)
{
    struct probe_point *point = find_point(engine, target);

    if (point != NULL)
        return point;
    point = slab_allocate_zeroed(&engine->probe_memory, sizeof(*point), _Alignof(struct probe_point));
    if (point == NULL)
        return NULL;
    point->callout = (struct callout){.function = call_all, .data = point, .pc = app_pc_of(target)};
    atomic_store_explicit(&engine->has_probes, true, memory_order_relaxed);
    return hash_map_insert(&engine->probe_points, target, (uintptr_t)point) == 0 ? point : NULL;
}

static struct probe_list *new_list(struct stalker_engine *engine, size_t count) REQUIRES(engine->lock)
{
    struct probe_list *list = slab_allocate_zeroed(
        &engine->probe_memory, sizeof(*list) + count * sizeof(struct call_probe), _Alignof(struct probe_list));

    if (list != NULL)
        list->count = count;
    return list;
}

static void replace_list(struct probe_point *point, struct probe_list *list)
{
    /* Release: pairs with the acquire in call_all. */
    atomic_store_explicit(&point->list, list, memory_order_release);
}

static int add(struct stalker_engine *engine, uint64_t target, const struct call_probe *probe, bool *is_first_out)
    REQUIRES(engine->lock)
{
    struct probe_point *point = obtain_point(engine, target);
    struct probe_list *old, *list;
    size_t count;

    if (point == NULL)
        return -ENOMEM;
    old = atomic_load_explicit(&point->list, memory_order_relaxed);
    count = old == NULL ? 0 : old->count;
    list = new_list(engine, count + 1);
    if (list == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        list->probes[i] = old->probes[i];
    list->probes[count] = *probe;
    replace_list(point, list);
    *is_first_out = count == 0;
    return 0;
}

int call_probe_add(struct stalker_engine *engine, uint64_t target, gait_call_probe probe, void *data, uint32_t *id_out)
{
    struct call_probe new = {.function = probe, .data = data};
    bool is_first = false;
    int result;

    mutex_lock(&engine->lock);
    new.id = ++engine->probe_id;
    result = add(engine, target, &new, &is_first);
    mutex_unlock(&engine->lock);
    if (result != 0)
        return result;
    if (is_first)
        stalker_invalidate(engine, target, target + 1);
    *id_out = new.id;
    return 0;
}

/* Without that probe, if it has it. */
static int remove_from(struct stalker_engine *engine, struct probe_point *point, uint32_t id) REQUIRES(engine->lock)
{
    struct probe_list *old = atomic_load_explicit(&point->list, memory_order_relaxed), *list = NULL;
    size_t found = 0;

    while (old != NULL && found < old->count && old->probes[found].id != id)
        found++;
    if (old == NULL || found == old->count)
        return -ENOENT;
    if (old->count > 1) {
        list = new_list(engine, old->count - 1);
        if (list == NULL)
            return -ENOMEM;
        for (size_t i = 0; i < list->count; i++)
            list->probes[i] = old->probes[i < found ? i : i + 1];
    }
    replace_list(point, list);
    return 0;
}

int call_probe_remove(struct stalker_engine *engine, uint32_t id)
{
    uint64_t cursor = 0, target, value;
    int result = -ENOENT;
    bool is_last = false;

    mutex_lock(&engine->lock);
    while (result == -ENOENT && hash_map_next(&engine->probe_points, &cursor, &target, &value)) {
        struct probe_point *point = (struct probe_point *)(uintptr_t)value;

        result = remove_from(engine, point, id);
        is_last = atomic_load_explicit(&point->list, memory_order_relaxed) == NULL;
    }
    mutex_unlock(&engine->lock);
    if (result == 0 && is_last)
        stalker_invalidate(engine, target, target + 1);
    return result;
}

static int watch(struct stalker_engine *engine, uint64_t target, const struct callout *callout) REQUIRES(engine->lock)
{
    struct probe_point *point = obtain_point(engine, target);

    if (point == NULL)
        return -ENOMEM;
    for (unsigned i = 0; i < WATCHES; i++) {
        struct callout *place = &point->watches[i];

        if (place->function == callout->function)
            return -EEXIST;
        if (place->function != NULL)
            continue;
        place->data = callout->data;
        place->pc = callout->pc;
        place->is_general_only = callout->is_general_only;
        /* Who translates meanwhile finds all of it, or nothing. */
        __atomic_store_n(&place->function, callout->function, __ATOMIC_RELEASE);
        return 0;
    }
    return -EBUSY;
}

int call_probe_watch(struct stalker_engine *engine, uint64_t target, gait_callout function, void *data)
{
    const struct callout callout = {function, data, app_pc_of(target), true};
    int result;

    mutex_lock(&engine->lock);
    result = watch(engine, target, &callout);
    mutex_unlock(&engine->lock);
    if (result == 0)
        stalker_invalidate(engine, target, target + 1);
    return result;
}

int call_probe_watch_inside(struct stalker_engine *engine, uint64_t target, gait_callout function, void *data)
{
    int result;

    mutex_lock(&engine->translation_lock);
    result = interval_map_insert(&engine->probe_borders, target, target + 1, 0);
    mutex_unlock(&engine->translation_lock);
    return result == 0 || result == -EEXIST ? call_probe_watch(engine, target, function, data) : result;
}

struct app_pc call_probe_border(const struct stalker_engine *engine, struct app_pc start)
{
    size_t next = interval_map_index_from(&engine->probe_borders, start.value + 1);

    return app_pc_of(next < interval_map_count(&engine->probe_borders)
                         ? interval_map_at(&engine->probe_borders, next)->start
                         : UINT64_MAX);
}

/* Places are taken one by one. */
static bool is_watched(const struct probe_point *point, unsigned which)
{
    return __atomic_load_n(&point->watches[which].function, __ATOMIC_ACQUIRE) != NULL;
}

bool call_probe_is_at(const struct code_cache *cache, struct app_pc pc)
{
    struct probe_point *point = find_point(cache->engine, pc.value);

    return !cache->configuration.is_quiet && point != NULL &&
           (is_watched(point, 0) || atomic_load_explicit(&point->list, memory_order_relaxed) != NULL);
}

void call_probe_put(struct translation *translation)
{
    struct stalker_engine *engine = translation->cache->engine;
    struct probe_point *point;

    /* What was added since somebody looked is put when the block is translated anew, right after this. */
    if (!translation->is_observed || translation->cache->configuration.is_quiet)
        return;
    point = find_point(engine, translation->block->start.value);
    if (point == NULL)
        return;
    for (unsigned i = 0; i < WATCHES && is_watched(point, i); i++)
        engine->machine->emit->put_callout(translation, &point->watches[i]);
    if (atomic_load_explicit(&point->list, memory_order_relaxed) != NULL)
        engine->machine->emit->put_callout(translation, &point->callout);
}

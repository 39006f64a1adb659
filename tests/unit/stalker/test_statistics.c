/* SPDX-License-Identifier: MIT */

#include "arch/engine.h"
#include "base/code_memory.h"
#include "gait/stalker.h"
#include "stalker/follow.h"
#include "stalker/invalidate.h"
#include "stalker/stalker_engine.h"
#include "stalker/stalker_gate.h"
#include "stalker/thread.h"
#include "stalker/unit.h"
#include "support/check.h"

static struct stalker_engine *engine;

static struct gait_stalker_statistics read_all(void)
{
    struct gait_stalker_statistics statistics;

    memset(&statistics, 0x5a, sizeof(statistics));
    statistics.size_bytes = 77;
    stalker_statistics_read(engine, &statistics);
    CHECK_EQUAL(statistics.size_bytes, 77);
    return statistics;
}

static void begin(void)
{
    static const struct stalker_engine_options options;

    if (engine_host() == NULL)
        check_skip("threads cannot be followed on this CPU yet");
    CHECK_EQUAL(stalker_engine_create(&options, &engine), 0);
}

static void a_new_engine_has_nothing(void)
{
    struct gait_stalker_statistics statistics;

    begin();
    statistics = read_all();
    CHECK_EQUAL(statistics.threads, 0);
    CHECK_EQUAL(statistics.blocks, 0);
    CHECK_EQUAL(statistics.code_bytes, 0);
    CHECK_EQUAL(statistics.memory_bytes, 0);
    CHECK_EQUAL(statistics.event_bytes_lost, 0);
    stalker_engine_destroy(engine);
}

static struct app_pc own_code(void)
{
    return app_pc_of((uintptr_t)&own_code);
}

static size_t committed(const struct code_cache *cache)
{
    size_t bytes = 0;

    for (const struct cache_slab *slab = cache->slabs; slab != NULL; slab = slab->next)
        bytes += code_memory_committed(slab->hot) + code_memory_committed(slab->cold);
    return bytes;
}

static void blocks_and_bytes_of_all_caches_are_added_up(void)
{
    struct follow_configuration plain = {0}, events = {.events = GAIT_EVENT_BLOCK};
    struct gait_stalker_statistics first, both;

    begin();
    CHECK_EQUAL(unit_prefetch(engine, &plain, own_code(), NULL), 0);
    first = read_all();
    CHECK(first.blocks > 0);
    CHECK_EQUAL(first.blocks, hash_map_count(&engine->caches->blocks));
    CHECK_EQUAL(first.code_bytes, committed(engine->caches));
    CHECK(first.memory_bytes > first.code_bytes);
    CHECK_EQUAL(unit_prefetch(engine, &events, own_code(), NULL), 0);
    both = read_all();
    CHECK_EQUAL(both.blocks, first.blocks + hash_map_count(&engine->caches->next->blocks));
    CHECK_EQUAL(both.code_bytes, first.code_bytes + committed(engine->caches->next));
    CHECK(both.memory_bytes > first.memory_bytes + committed(engine->caches->next));
    /* What is forgotten is not there now. */
    stalker_invalidate(engine, 0, UINT64_MAX);
    CHECK_EQUAL(read_all().blocks, 0);
    stalker_engine_destroy(engine);
}

static void threads_are_counted_and_what_was_lost_stays_lost(void)
{
    struct follow_request request = {.configuration = {.events = GAIT_EVENT_BLOCK}};
    uint64_t base = stalker_base_get();
    struct stalker_thread *thread = NULL;

    begin();
    CHECK_EQUAL(stalker_follow_prepare(engine, &request, &thread), 0);
    CHECK_EQUAL(read_all().threads, 1);
    thread->events->lost_bytes = 40;
    CHECK_EQUAL(read_all().event_bytes_lost, 40);
    stalker_leave_natively(thread);
    stalker_base_set(base);
    CHECK_EQUAL(read_all().threads, 0);
    CHECK_EQUAL(read_all().event_bytes_lost, 40);
    CHECK_EQUAL(stalker_follow_prepare(engine, &request, &thread), 0);
    thread->events->lost_bytes = 2;
    CHECK_EQUAL(read_all().event_bytes_lost, 42);
    stalker_leave_natively(thread);
    stalker_base_set(base);
    CHECK_EQUAL(read_all().event_bytes_lost, 42);
    stalker_engine_destroy(engine);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_new_engine_has_nothing),
    CHECK_CASE(blocks_and_bytes_of_all_caches_are_added_up),
    CHECK_CASE(threads_are_counted_and_what_was_lost_stays_lost),
};

CHECK_MAIN(cases)

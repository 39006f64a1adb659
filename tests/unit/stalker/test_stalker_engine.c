/* SPDX-License-Identifier: MIT */
#include "stalker/stalker_engine.h"

#include "arch/engine.h"
#include "stalker/stalker_gate.h"
#include "support/check.h"

#include <errno.h>

static const struct gait_transformer *transformer_of(uintptr_t number)
{
    return (const struct gait_transformer *)(number * 64);
}

static const struct stalker_engine_options options;

static struct stalker_engine *create(void)
{
    struct stalker_engine *engine = NULL;

    if (engine_host() == NULL) {
        CHECK_EQUAL(stalker_engine_create(&options, &engine), -EOPNOTSUPP);
        CHECK(engine == NULL);
        check_skip("threads cannot be followed on this CPU yet");
    }
    CHECK_EQUAL(stalker_engine_create(&options, &engine), 0);
    return engine;
}

static int cache_of(struct stalker_engine *engine, uint32_t events, uintptr_t transformer,
                    struct code_cache **cache_out)
{
    struct follow_configuration configuration = {.events = events, .transformer = transformer_of(transformer)};
    int result;

    mutex_lock(&engine->lock);
    result = stalker_engine_cache(engine, &configuration, cache_out);
    mutex_unlock(&engine->lock);
    return result;
}

static void a_new_engine_follows_nobody(void)
{
    struct stalker_engine *engine = create();

    CHECK(list_is_empty(&engine->threads));
    CHECK(list_is_empty(&engine->parked));
    CHECK(engine->machine == engine_host());
    CHECK(engine->caches == NULL);
    CHECK((uintptr_t)engine->system_calls < 1u << 31);
    stalker_engine_destroy(engine);
    stalker_engine_destroy(NULL);
}

static void natives_are_remembered(void)
{
    struct stalker_engine *engine = create();

    CHECK(!stalker_engine_is_native(engine, app_pc_of(0x1000)));
    CHECK_EQUAL(stalker_engine_add_native(engine, app_pc_of(0x1000)), 0);
    CHECK_EQUAL(stalker_engine_add_native(engine, app_pc_of(0x1000)), 0);
    CHECK(stalker_engine_is_native(engine, app_pc_of(0x1000)));
    CHECK(!stalker_engine_is_native(engine, app_pc_of(0x1001)));
    for (uint64_t i = 0; i < 1000; i++)
        CHECK_EQUAL(stalker_engine_add_native(engine, app_pc_of(0x2000 + i)), 0);
    CHECK(stalker_engine_is_native(engine, app_pc_of(0x1000)));
    CHECK(stalker_engine_is_native(engine, app_pc_of(0x2000 + 999)));
    stalker_engine_destroy(engine);
}

static void threads_that_are_followed_alike_share_a_cache(void)
{
    struct stalker_engine *engine = create();
    struct code_cache *plain = NULL, *events = NULL, *transformed = NULL, *again = NULL;

    CHECK_EQUAL(cache_of(engine, 0, 0, &plain), 0);
    CHECK_EQUAL(cache_of(engine, 1, 0, &events), 0);
    CHECK_EQUAL(cache_of(engine, 1, 1, &transformed), 0);
    CHECK(plain != events && events != transformed && plain != transformed);
    CHECK_EQUAL(cache_of(engine, 0, 0, &again), 0);
    CHECK(again == plain);
    CHECK_EQUAL(cache_of(engine, 1, 0, &again), 0);
    CHECK(again == events);
    CHECK_EQUAL(cache_of(engine, 1, 1, &again), 0);
    CHECK(again == transformed);
    CHECK(events->engine == engine);
    CHECK_EQUAL(events->configuration.events, 1);
    CHECK_EQUAL(events->indirect.missing, (uintptr_t)stalker_gate_indirect);
    stalker_engine_destroy(engine);
}

static void there_are_as_many_caches_as_ways_of_following(void)
{
    struct stalker_engine *engine = create();
    struct code_cache *first = NULL, *last = NULL, *again = NULL;

    CHECK_EQUAL(cache_of(engine, 0, 0, &first), 0);
    for (uintptr_t i = 1; i < 100; i++)
        CHECK_EQUAL(cache_of(engine, 0, i, &last), 0);
    CHECK_EQUAL(cache_of(engine, 0, 0, &again), 0);
    CHECK(again == first);
    CHECK_EQUAL(cache_of(engine, 0, 99, &again), 0);
    CHECK(again == last);
    stalker_engine_destroy(engine);
}

static void a_cache_is_found_only_if_it_was_made(void)
{
    struct follow_configuration configuration = {.events = 1};
    struct stalker_engine *engine = create();
    struct code_cache *made = NULL;

    mutex_lock(&engine->lock);
    CHECK(stalker_engine_find_cache(engine, &configuration) == NULL);
    CHECK_EQUAL(stalker_engine_cache(engine, &configuration, &made), 0);
    CHECK(stalker_engine_find_cache(engine, &configuration) == made);
    configuration.events = 2;
    CHECK(stalker_engine_find_cache(engine, &configuration) == NULL);
    mutex_unlock(&engine->lock);
    stalker_engine_destroy(engine);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_new_engine_follows_nobody),
    CHECK_CASE(natives_are_remembered),
    CHECK_CASE(threads_that_are_followed_alike_share_a_cache),
    CHECK_CASE(there_are_as_many_caches_as_ways_of_following),
    CHECK_CASE(a_cache_is_found_only_if_it_was_made),
};

CHECK_MAIN(cases)

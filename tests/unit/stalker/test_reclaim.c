/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* time limit: 120 s */
#include "stalker/reclaim.h"

#include "gait/stalker.h"
#include "stalker/thread.h"
#include "support/check.h"
#include "support/workload.h"

#include <pthread.h>
#include <unistd.h>

#define SLAB_BYTES     65536
#define CODE_BYTES_MAX 100000
#define THREADS        3

static struct gait_stalker *stalker;

static const struct workload *const tried[] = {&workload_zlib_compress, &workload_lua_fib, &workload_sqlite,
                                               &workload_qsort};

static struct gait_stalker_statistics statistics(void)
{
    struct gait_stalker_statistics figures = {.size_bytes = sizeof(figures)};

    CHECK_EQUAL(gait_stalker_read_statistics(stalker, &figures, NULL), 0);
    return figures;
}

static void begin(size_t code_bytes_max)
{
    struct gait_stalker_options options = {
        .size_bytes = sizeof(options),
        .slab_bytes = SLAB_BYTES,
        .code_bytes_max = code_bytes_max,
    };

    CHECK_EQUAL(gait_stalker_create(&options, &stalker, NULL), 0);
}

/* ---- a limit ----------------------------------------------------------------------------------------------------- */

/* Runs a workload followed and returns whether its result is the native one. */
static bool runs_right(const struct workload *workload, uint32_t events)
{
    struct gait_follow_options options = {.size_bytes = sizeof(options), .events = events};
    uint64_t native, followed;
    void *state;

    if (workload_prepare(workload, 1, &state) != 0)
        return false;
    native = workload->run(state);
    if (gait_stalker_follow_me(stalker, &options, NULL) != 0)
        return false;
    followed = workload->run(state);
    if (gait_stalker_unfollow_me(stalker, NULL) != 0)
        return false;
    workload->discard(state);
    return native == followed && native != WORKLOAD_FAILED;
}

static void code_stays_within_its_limit(void)
{
    begin(CODE_BYTES_MAX);
    for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
        CHECK(runs_right(tried[i], 0));
        CHECK(statistics().code_bytes <= CODE_BYTES_MAX + 2 * SLAB_BYTES);
    }
    CHECK(runs_right(tried[0], GAIT_EVENT_BLOCK | GAIT_EVENT_CALL | GAIT_EVENT_RET));
    CHECK(statistics().code_bytes <= 2 * (CODE_BYTES_MAX + 2 * SLAB_BYTES));
    gait_stalker_destroy(stalker);
    /* Without the limit there is more: the test means something. */
    begin(0);
    for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]); i++)
        CHECK(runs_right(tried[i], 0));
    CHECK(statistics().code_bytes > CODE_BYTES_MAX + 2 * SLAB_BYTES);
    gait_stalker_destroy(stalker);
}

static void *run_some(void *number)
{
    uintptr_t first = (uintptr_t)number;
    uintptr_t wrong = 0;

    for (size_t i = 0; i < 2; i++)
        wrong += !runs_right(tried[(first + i) % (sizeof(tried) / sizeof(tried[0]))], 0);
    return (void *)wrong;
}

static void code_of_several_threads_stays_within_its_limit(void)
{
    pthread_t threads[THREADS];
    void *wrong;

    begin(CODE_BYTES_MAX);
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, run_some, (void *)i), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &wrong);
        CHECK_EQUAL((uintptr_t)wrong, 0);
    }
    /* Nobody is followed any more, so nobody can be in what was retired. */
    CHECK_EQUAL(gait_stalker_collect(stalker), 0);
    CHECK(statistics().code_bytes <= CODE_BYTES_MAX + 2 * SLAB_BYTES);
    gait_stalker_destroy(stalker);
}

/* ---- collecting -------------------------------------------------------------------------------------------------- */

static void what_was_forgotten_is_given_back(void)
{
    struct gait_stalker_statistics before, after;

    begin(0);
    CHECK(runs_right(&workload_qsort, 0));
    CHECK(runs_right(&workload_zlib_compress, GAIT_EVENT_BLOCK));
    before = statistics();
    CHECK(before.blocks > 100);
    CHECK_EQUAL(gait_stalker_collect(stalker), 0);
    /* What is still known is kept. */
    CHECK_EQUAL(statistics().blocks, before.blocks);
    CHECK_EQUAL(statistics().code_bytes, before.code_bytes);
    CHECK_EQUAL(gait_stalker_invalidate(stalker, 0x1000, UINT64_MAX - 0x2000, NULL), 0);
    CHECK_EQUAL(gait_stalker_collect(stalker), 0);
    after = statistics();
    CHECK_EQUAL(after.blocks, 0);
    CHECK_EQUAL(after.code_bytes, 0);
    CHECK(after.memory_bytes < before.memory_bytes);
    CHECK(runs_right(&workload_qsort, 0));
    gait_stalker_destroy(stalker);
}

/* The thread is in the code that it forgets, comes to the engine for new code, and so passes on. */
static void what_a_thread_is_in_is_kept_until_it_passed_on(void)
{
    size_t left = 1;

    begin(0);
    CHECK_EQUAL(gait_stalker_follow_me(stalker, NULL, NULL), 0);
    for (unsigned i = 0; i < 20; i++) {
        CHECK_EQUAL(gait_stalker_invalidate(stalker, 0x1000, UINT64_MAX - 0x2000, NULL), 0);
        left = gait_stalker_collect(stalker);
    }
    /* Slabs of earlier rounds went: at most those of the last ones are left. */
    CHECK(left <= 2);
    CHECK(statistics().code_bytes <= 4 * SLAB_BYTES);
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
    CHECK_EQUAL(gait_stalker_invalidate(stalker, 0x1000, UINT64_MAX - 0x2000, NULL), 0);
    CHECK_EQUAL(gait_stalker_collect(stalker), 0);
    CHECK_EQUAL(statistics().code_bytes, 0);
    gait_stalker_destroy(stalker);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static size_t mapped_pages(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL || fscanf(file, "%lu", &pages) != 1)
        check_skip("there is no /proc");
    fclose(file);
    return pages;
}

static void *follow_and_end(void *unused)
{
    struct gait_follow_options options = {.size_bytes = sizeof(options), .events = GAIT_EVENT_BLOCK};
    int result = gait_stalker_follow_me(stalker, &options, NULL);

    return result == 0 ? unused : (void *)1;
}

static void make_threads(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        pthread_t thread;
        void *result;

        CHECK_EQUAL(pthread_create(&thread, NULL, follow_and_end, NULL), 0);
        pthread_join(thread, &result);
        CHECK(result == NULL);
    }
}

/* Each has a stack of the engine's and a buffer: 500 of them would be hundreds of megabytes. */
static void threads_that_ended_leave_nothing_behind(void)
{
    size_t before;

    begin(0);
    make_threads(50);
    before = mapped_pages();
    make_threads(500);
    CHECK(mapped_pages() < before + 4096);
    CHECK_EQUAL(statistics().threads, 0);
    for (unsigned i = 0; i < 10; i++)
        gait_stalker_collect(stalker);
    CHECK(mapped_pages() < before + 1024);
    gait_stalker_destroy(stalker);
}

/* ---- tables of the map ------------------------------------------------------------------------------------------- */

static size_t memory_of(struct code_cache *cache)
{
    size_t bytes;

    mutex_lock(&cache->lock);
    bytes = code_cache_memory(cache);
    mutex_unlock(&cache->lock);
    return bytes;
}

/* Blocks without code, so many that the map grows. */
static void grow_map(struct code_cache *cache)
{
    mutex_lock(&cache->lock);
    for (uint64_t start = 1; !hash_map_has_retired(&cache->blocks) && start < 1000000; start++) {
        struct block *block = code_cache_new_block(cache);

        CHECK(block != NULL);
        block->start = app_pc_of(start);
        if (code_cache_publish(cache, block) != 0)
            CHECK(!"a block cannot be published");
    }
    CHECK(hash_map_has_retired(&cache->blocks));
    mutex_unlock(&cache->lock);
}

static void outgrown_tables_go_when_every_thread_has_passed_on(void)
{
    static struct stalker_thread thread;
    struct stalker_engine_options options = {0};
    struct follow_configuration configuration = {0};
    struct stalker_engine *engine;
    struct code_cache *cache;
    size_t before, table_bytes;

    CHECK_EQUAL(stalker_engine_create(&options, &engine), 0);
    mutex_lock(&engine->lock);
    CHECK_EQUAL(stalker_engine_cache(engine, &configuration, &cache), 0);
    list_add_last(&engine->threads, &thread.node);
    mutex_unlock(&engine->lock);
    grow_map(cache);
    before = memory_of(cache);
    table_bytes = hash_map_retired_memory(cache->blocks.retired);
    CHECK(table_bytes > 0);
    for (int i = 0; i < 3; i++)
        reclaim_all(engine);
    CHECK_EQUAL(memory_of(cache), before);
    thread.engine = engine;
    reclaim_pass(&thread, reclaim_epoch(&thread));
    reclaim_all(engine);
    CHECK_EQUAL(memory_of(cache), before - table_bytes);
    CHECK(code_cache_find(cache, app_pc_of(1)) == code_cache_block(cache, 0));
    mutex_lock(&engine->lock);
    list_remove(&thread.node);
    mutex_unlock(&engine->lock);
    stalker_engine_destroy(engine);
}

/* ---- ways of following ------------------------------------------------------------------------------------------- */

static void keep_all(void *context, struct gait_iterator *iterator)
{
    (void)context;
    while (gait_iterator_next(iterator, NULL))
        gait_iterator_keep(iterator);
}

/* Each time with a transformer that was never there before. */
static void follow_with_new_transformers(struct gait_transformer *transformers, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct gait_follow_options options = {.size_bytes = sizeof(options), .transformer = &transformers[i]};

        transformers[i].transform = keep_all;
        CHECK_EQUAL(gait_stalker_follow_me(stalker, &options, NULL), 0);
        CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
        if (i % 10 == 0)
            gait_stalker_collect(stalker);
    }
    gait_stalker_collect(stalker);
}

static void a_thousand_transformers_leave_nothing_behind(void)
{
    static struct gait_transformer transformers[1100];
    struct gait_stalker_statistics first;
    size_t before;

    begin(0);
    follow_with_new_transformers(transformers, 100);
    before = mapped_pages();
    first = statistics();
    CHECK_EQUAL(first.blocks, 0);
    follow_with_new_transformers(transformers + 100, 1000);
    CHECK_EQUAL(statistics().memory_bytes, first.memory_bytes);
    CHECK_EQUAL(mapped_pages(), before);
    gait_stalker_destroy(stalker);
}

/* There is one, and the calling thread is in it. */
static void a_transformer_that_a_thread_is_followed_with_is_kept(void)
{
    static const struct gait_transformer transformer = {keep_all, NULL};
    struct gait_follow_options options = {.size_bytes = sizeof(options), .transformer = &transformer};

    begin(0);
    CHECK_EQUAL(gait_stalker_follow_me(stalker, &options, NULL), 0);
    for (int i = 0; i < 10; i++)
        gait_stalker_collect(stalker);
    CHECK(statistics().blocks > 0);
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
    CHECK(statistics().blocks > 0);
    gait_stalker_collect(stalker);
    CHECK_EQUAL(statistics().blocks, 0);
    gait_stalker_destroy(stalker);
}

static const struct check_case cases[] = {
    CHECK_CASE(code_stays_within_its_limit),
    CHECK_CASE(code_of_several_threads_stays_within_its_limit),
    CHECK_CASE(what_was_forgotten_is_given_back),
    CHECK_CASE(what_a_thread_is_in_is_kept_until_it_passed_on),
    CHECK_CASE(threads_that_ended_leave_nothing_behind),
    CHECK_CASE(outgrown_tables_go_when_every_thread_has_passed_on),
    CHECK_CASE(a_thousand_transformers_leave_nothing_behind),
    CHECK_CASE(a_transformer_that_a_thread_is_followed_with_is_kept),
};

CHECK_MAIN(cases)

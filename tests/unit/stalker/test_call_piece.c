/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* time limit: 120 s */
#define _GNU_SOURCE
#include "stalker/call_piece.h"

#include "gait/stalker.h"
#include "stalker/stalker_engine.h"
#include "support/check.h"

#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static struct gait_stalker *stalker;
static atomic_uint begun;

/* ---- pieces themselves ------------------------------------------------------------------------------------------- */

static void each_place_has_one_piece(void)
{
    static const struct stalker_engine_options options;
    struct cache_pc first, again, other;
    struct stalker_engine *engine;

    CHECK_EQUAL(stalker_engine_create(&options, &engine), 0);
    CHECK_EQUAL(call_piece_obtain(engine, app_pc_of(0x401000), 0, &first), 0);
    CHECK_EQUAL(call_piece_obtain(engine, app_pc_of(0x401002), 0, &other), 0);
    CHECK_EQUAL(call_piece_obtain(engine, app_pc_of(0x401000), 0, &again), 0);
    CHECK_EQUAL(first.value, again.value);
    CHECK(first.value != other.value);
    CHECK_EQUAL(call_piece_obtain(engine, app_pc_of(0x401000), 0x7000, &other), 0);
    CHECK(first.value != other.value);
    CHECK_EQUAL(call_piece_obtain(engine, app_pc_of(0x401000), 0x7000, &again), 0);
    CHECK_EQUAL(other.value, again.value);
    CHECK_EQUAL(call_piece_obtain(engine, app_pc_of(0x401000), 0, &first), 0);
    for (uint64_t i = 0; i < 100; i++)
        CHECK_EQUAL(call_piece_obtain(engine, app_pc_of(0x500000 + i), 0, &other), 0);
    CHECK_EQUAL(call_piece_obtain(engine, app_pc_of(0x401000), 0, &again), 0);
    CHECK_EQUAL(first.value, again.value);
    stalker_engine_destroy(engine);
}

/* When there is no room for another one, that is said, and what there is stays good. */
static void a_full_memory_is_an_error(void)
{
    static const struct stalker_engine_options options;
    struct cache_pc first, piece = {0}, again;
    struct stalker_engine *engine;
    int result = 0;

    CHECK_EQUAL(stalker_engine_create(&options, &engine), 0);
    CHECK_EQUAL(call_piece_obtain(engine, app_pc_of(0x401000), 0, &first), 0);
    for (uint64_t i = 0; i < 10000 && result == 0; i++)
        result = call_piece_obtain(engine, app_pc_of(0x500000 + i), 0, &piece);
    CHECK(result < 0);
    CHECK_EQUAL(call_piece_obtain(engine, app_pc_of(0x401000), 0, &again), 0);
    CHECK_EQUAL(first.value, again.value);
    stalker_engine_destroy(engine);
}

/* ---- children ---------------------------------------------------------------------------------------------------- */

static void begin(size_t code_bytes_max, bool write_xor_execute)
{
    struct gait_stalker_options options = {
        .size_bytes = sizeof(options),
        .slab_bytes = 65536,
        .code_bytes_max = code_bytes_max,
        .write_xor_execute = write_xor_execute,
    };

    CHECK_EQUAL(gait_stalker_create(&options, &stalker, NULL), 0);
}

static unsigned wrong_status(pid_t child, int expected)
{
    int status;

    return child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != expected;
}

__attribute__((noinline)) static unsigned make_vfork_child(unsigned number)
{
    volatile int code = (int)(number & 0x7f);
    pid_t child = vfork();

    if (child == 0)
        _exit(code);
    return wrong_status(child, code);
}

static unsigned make_spawned_child(unsigned number)
{
    char *arguments[] = {"sh", "-c", number % 2 ? "exit 5" : "exit 6", NULL};
    pid_t child;

    if (posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) != 0)
        return 1;
    return wrong_status(child, number % 2 ? 5 : 6);
}

/* Threads that are not followed: they begin behind the system call, natively. */
static void *run_thread(void *number)
{
    atomic_fetch_add(&begun, 1);
    return gait_stalker_is_following_me(stalker) ? NULL : (void *)((uintptr_t)number + 1);
}

static unsigned make_threads(unsigned number)
{
    pthread_t threads[4];
    unsigned wrong = 0, made = 0;

    for (uintptr_t i = 0; i < 4; i++, made++)
        if (pthread_create(&threads[i], NULL, run_thread, (void *)(i + number)) != 0)
            break;
    for (uintptr_t i = 0; i < made; i++) {
        void *result;

        pthread_join(threads[i], &result);
        wrong += (uintptr_t)result != i + number + 1;
    }
    return wrong + (made != 4);
}

/* Makes children in a loop; everything is forgotten meanwhile, so that code goes while children begin. */
static void make_children(unsigned (*make)(unsigned number), unsigned count, uint32_t events)
{
    struct gait_follow_options options = {.size_bytes = sizeof(options), .events = events};
    unsigned wrong = 0;

    CHECK_EQUAL(gait_stalker_follow_me(stalker, &options, NULL), 0);
    for (unsigned i = 0; i < count; i++) {
        wrong += make(i);
        wrong += !gait_stalker_is_following_me(stalker);
        wrong += gait_stalker_invalidate(stalker, 0x1000, UINT64_MAX - 0x2000, NULL) != 0;
        gait_stalker_collect(stalker);
    }
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
    CHECK_EQUAL(wrong, 0);
}

static void make_all_kinds(uint32_t events)
{
    make_children(make_vfork_child, 40, events);
    make_children(make_spawned_child, 20, events);
    make_children(make_threads, 40, events);
}

static void children_that_are_not_followed_begin_natively(void)
{
    begin(0, false);
    make_all_kinds(0);
    make_all_kinds(GAIT_EVENT_BLOCK | GAIT_EVENT_CALL | GAIT_EVENT_RET);
    gait_stalker_destroy(stalker);
    begin(0, true);
    make_all_kinds(0);
    gait_stalker_destroy(stalker);
}

static void children_begin_while_code_goes(void)
{
    begin(20000, false);
    make_all_kinds(0);
    make_all_kinds(GAIT_EVENT_EXEC);
    gait_stalker_destroy(stalker);
}

static void *make_children_too(void *unused)
{
    make_children(make_threads, 20, 0);
    make_children(make_vfork_child, 10, 0);
    return unused;
}

/* All at the same place. */
static void several_threads_can_make_children_at_once(void)
{
    pthread_t threads[3];

    begin(20000, false);
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, make_children_too, NULL), 0);
    for (unsigned i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    gait_stalker_destroy(stalker);
}

static const struct check_case cases[] = {
    CHECK_CASE(each_place_has_one_piece),
    CHECK_CASE(a_full_memory_is_an_error),
    CHECK_CASE(children_that_are_not_followed_begin_natively),
    CHECK_CASE(children_begin_while_code_goes),
    CHECK_CASE(several_threads_can_make_children_at_once),
};

CHECK_MAIN(cases)

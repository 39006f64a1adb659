/* SPDX-License-Identifier: MIT */
#include "stalker/follow.h"

#include "arch/engine.h"
#include "base/list.h"
#include "gait/stalker.h"
#include "ring/event_record.h"
#include "stalker/stalker_gate.h"
#include "stalker/thread.h"
#include "support/check.h"

#include <errno.h>
#include <pthread.h>

static struct stalker_engine *engine;
static const struct follow_request plain;

static size_t received;

static int receive(void *context, const struct gait_event *events, size_t count)
{
    CHECK(context == &received);
    CHECK_EQUAL(events[0].tid, stalker_current_tid());
    received += count;
    return 0;
}

static const struct follow_request with_events = {
    .configuration = {.events = GAIT_EVENT_BLOCK},
    .receiver = {receive, &received},
    .buffer_bytes = 8192,
    .new_threads = true,
};

static void begin(void)
{
    static const struct stalker_engine_options options;

    if (engine_host() == NULL)
        check_skip("threads cannot be followed on this CPU yet");
    CHECK_EQUAL(stalker_engine_create(&options, &engine), 0);
    received = 0;
}

static struct stalker_thread *prepare(const struct follow_request *request)
{
    struct stalker_thread *thread = NULL;

    CHECK_EQUAL(stalker_follow_prepare(engine, request, &thread), 0);
    return thread;
}

static void leave(struct stalker_thread *thread, uint64_t base)
{
    thread->context.pc = 0x1234;
    stalker_leave_natively(thread);
    CHECK_EQUAL(thread->resume, 0x1234);
    CHECK(thread->is_leaving);
    stalker_base_set(base);
}

static bool is_listed(int tid)
{
    bool listed;

    mutex_lock(&engine->lock);
    listed = stalker_thread_find(engine, tid) != NULL;
    mutex_unlock(&engine->lock);
    return listed;
}

static void a_prepared_thread_is_ready_to_enter(void)
{
    uint64_t base = stalker_base_get();
    struct stalker_thread *thread;
    int tid = stalker_current_tid();

    begin();
    CHECK(!stalker_is_following(engine, tid));
    thread = prepare(&plain);
    CHECK(stalker_is_following(engine, tid));
    CHECK(!stalker_is_following(engine, tid + 1));
    CHECK(is_listed(tid));
    CHECK_EQUAL(thread->tid, tid);
    CHECK_EQUAL(thread->self, (uintptr_t)thread);
    CHECK_EQUAL(stalker_base_get(), (uintptr_t)thread);
    CHECK_EQUAL(thread->thread_base, base);
    CHECK_EQUAL(thread->reason, STALKER_ENTER);
    CHECK_EQUAL(thread->engine_sp % 16, 0);
    /* 128 KiB at least are promised to callouts. */
    CHECK(thread->engine_sp - (uintptr_t)thread->stack >= 128 << 10);
    CHECK(thread->engine_sp <= (uintptr_t)thread);
    CHECK(thread->vectors != NULL);
    CHECK(thread->events == NULL);
    CHECK(thread->engine == engine && thread->cache == engine->caches);
    leave(thread, base);
    CHECK(!stalker_is_following(engine, tid));
    stalker_engine_destroy(engine);
}

static void nobody_is_followed_twice(void)
{
    uint64_t base = stalker_base_get();
    struct stalker_thread *thread, *untouched = NULL;

    begin();
    thread = prepare(&plain);
    CHECK_EQUAL(stalker_follow_prepare(engine, &plain, &untouched), -EALREADY);
    CHECK_EQUAL(stalker_follow_prepare(engine, &with_events, &untouched), -EALREADY);
    CHECK(untouched == NULL);
    CHECK_EQUAL(stalker_base_get(), (uintptr_t)thread);
    leave(thread, base);
    stalker_engine_destroy(engine);
}

static void a_thread_that_comes_again_gets_its_struct_again(void)
{
    uint64_t base = stalker_base_get();
    struct stalker_thread *thread;

    begin();
    thread = prepare(&with_events);
    CHECK(thread->events != NULL && thread->with_position && thread->new_threads);
    CHECK_EQUAL(thread->events->end - thread->events->start, 8192);
    CHECK_EQUAL(thread->event_position, thread->events->start);
    CHECK_EQUAL(thread->event_limit, thread->events->end);
    CHECK_EQUAL(stalker_unfollow_current(engine), 0);
    leave(thread, base);
    CHECK(list_first(&engine->parked) == &thread->node);
    CHECK(prepare(&plain) == thread);
    CHECK(list_is_empty(&engine->parked));
    CHECK(thread->events == NULL && !thread->with_position && !thread->new_threads && !thread->is_leaving);
    CHECK_EQUAL(atomic_load(&thread->requests), 0);
    leave(thread, base);
    stalker_engine_destroy(engine);
}

static void *follow_beside(void *first)
{
    uint64_t base = stalker_base_get();
    struct stalker_thread *thread = prepare(&plain);

    CHECK(thread != first);
    CHECK(stalker_is_following(engine, stalker_current_tid()));
    leave(thread, base);
    return NULL;
}

static void each_thread_has_a_struct_of_its_own(void)
{
    uint64_t base = stalker_base_get();
    struct stalker_thread *thread;
    pthread_t other;

    begin();
    thread = prepare(&plain);
    CHECK_EQUAL(pthread_create(&other, NULL, follow_beside, thread), 0);
    pthread_join(other, NULL);
    CHECK(stalker_is_following(engine, stalker_current_tid()));
    leave(thread, base);
    stalker_engine_destroy(engine);
}

static void a_request_that_cannot_be_fulfilled_leaves_the_thread_alone(void)
{
    struct follow_request request = with_events;
    uint64_t base = stalker_base_get();
    struct stalker_thread *untouched = NULL;

    begin();
    request.buffer_bytes = 1 << 30;
    CHECK_EQUAL(stalker_follow_prepare(engine, &request, &untouched), -EINVAL);
    CHECK(untouched == NULL);
    CHECK(!stalker_is_following(engine, stalker_current_tid()));
    CHECK_EQUAL(stalker_base_get(), base);
    leave(prepare(&with_events), base);
    stalker_engine_destroy(engine);
}

static void unfollowing_is_asked_of_a_thread_that_is_followed(void)
{
    uint64_t base = stalker_base_get();
    struct stalker_thread *thread;

    begin();
    CHECK_EQUAL(stalker_unfollow_current(engine), -ESRCH);
    thread = prepare(&plain);
    CHECK_EQUAL(stalker_unfollow_current(engine), 0);
    CHECK(atomic_load(&thread->requests) & STALKER_REQUEST_UNFOLLOW);
    CHECK(stalker_is_following(engine, stalker_current_tid()));
    leave(thread, base);
    CHECK_EQUAL(stalker_unfollow_current(engine), -ESRCH);
    stalker_engine_destroy(engine);
}

/* A record of a block that is there. */
static void put_record(struct stalker_thread *thread)
{
    mutex_lock(&thread->cache->lock);
    if (thread->cache->block_count == 0)
        CHECK(code_cache_new_block(thread->cache) != NULL);
    mutex_unlock(&thread->cache->lock);
    *(uint32_t *)(uintptr_t)thread->event_position = EVENT_RECORD_BLOCK;
    thread->event_position += 4;
}

static void flushing_hands_over_what_is_there(void)
{
    uint64_t base = stalker_base_get();
    struct stalker_thread *thread;

    begin();
    stalker_flush_current(engine);
    thread = prepare(&with_events);
    stalker_flush_current(engine);
    CHECK_EQUAL(received, 0);
    put_record(thread);
    put_record(thread);
    stalker_flush_current(engine);
    CHECK_EQUAL(received, 2);
    CHECK_EQUAL(thread->event_position, thread->events->start);
    leave(thread, base);
    CHECK_EQUAL(received, 2);
    stalker_engine_destroy(engine);
}

static void events_are_handed_over_at_the_end(void)
{
    uint64_t base = stalker_base_get();
    struct follow_request request = with_events;
    struct stalker_thread *thread;

    begin();
    thread = prepare(&with_events);
    put_record(thread);
    leave(thread, base);
    CHECK_EQUAL(received, 1);
    CHECK_EQUAL(engine->event_bytes_lost, 0);
    request.receiver.process = NULL;
    thread = prepare(&request);
    put_record(thread);
    leave(thread, base);
    CHECK_EQUAL(received, 1);
    CHECK_EQUAL(engine->event_bytes_lost, 4);
    stalker_engine_destroy(engine);
}

static void translated_code_has_the_position_only_where_it_writes_records(void)
{
    static const uint32_t in_code[] = {GAIT_EVENT_CALL, GAIT_EVENT_RET, GAIT_EVENT_EXEC, GAIT_EVENT_BLOCK};
    struct follow_request request = {.configuration = {.events = GAIT_EVENT_COMPILE}};
    uint64_t base = stalker_base_get();
    struct stalker_thread *thread;

    begin();
    thread = prepare(&request);
    CHECK(!thread->with_position && thread->events != NULL);
    CHECK_EQUAL(thread->leave, (uintptr_t)stalker_leave);
    leave(thread, base);
    for (size_t i = 0; i < sizeof(in_code) / sizeof(in_code[0]); i++) {
        request.configuration.events = in_code[i];
        thread = prepare(&request);
        CHECK(thread->with_position);
        CHECK_EQUAL(thread->leave, (uintptr_t)stalker_leave_with_position);
        leave(thread, base);
    }
    stalker_engine_destroy(engine);
}

static struct stalker_thread *watched;
static unsigned watches_ended;

static void watch_ended(struct stalker_thread *thread)
{
    CHECK(thread == watched && thread->watch == &watched);
    watches_ended++;
}

static void who_watches_a_thread_is_told_when_it_leaves(void)
{
    static const struct thread_watcher watcher = {.ended = watch_ended};
    uint64_t base = stalker_base_get();

    begin();
    engine->thread_watcher = &watcher;
    watched = prepare(&plain);
    CHECK(watched->watch == NULL);
    leave(watched, base);
    CHECK_EQUAL(watches_ended, 0);
    watched = prepare(&plain);
    watched->watch = &watched;
    leave(watched, base);
    CHECK_EQUAL(watches_ended, 1);
    CHECK(watched->watch == NULL);
    stalker_engine_destroy(engine);
}

static const struct check_case cases[] = {
    CHECK_CASE(who_watches_a_thread_is_told_when_it_leaves),
    CHECK_CASE(a_prepared_thread_is_ready_to_enter),
    CHECK_CASE(nobody_is_followed_twice),
    CHECK_CASE(a_thread_that_comes_again_gets_its_struct_again),
    CHECK_CASE(each_thread_has_a_struct_of_its_own),
    CHECK_CASE(a_request_that_cannot_be_fulfilled_leaves_the_thread_alone),
    CHECK_CASE(unfollowing_is_asked_of_a_thread_that_is_followed),
    CHECK_CASE(flushing_hands_over_what_is_there),
    CHECK_CASE(events_are_handed_over_at_the_end),
    CHECK_CASE(translated_code_has_the_position_only_where_it_writes_records),
};

CHECK_MAIN(cases)

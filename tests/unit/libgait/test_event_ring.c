/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Followed threads that write into shared memory, and readers of it: the events are those that a sink gets. */
#define _GNU_SOURCE
#include "gait/event_ring.h"

#include "gait/clock.h"
#include "support/check.h"
#include "support/event_list.h"
#include "support/followed_call.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENTS_IN_CODE (GAIT_EVENT_CALL | GAIT_EVENT_RET | GAIT_EVENT_EXEC | GAIT_EVENT_BLOCK)

static struct gait_error err;

static struct gait_event_ring *make_ring(int overflow, size_t buffer_bytes, unsigned buffer_count)
{
    struct gait_event_ring_options options = {
        .size_bytes = sizeof(options),
        .buffer_bytes = buffer_bytes,
        .buffer_count = buffer_count,
        .overflow = overflow,
    };
    struct gait_event_ring *ring;

    followed_call_require(gait_event_ring_create(&options, &ring, &err), &err);
    return ring;
}

static struct gait_event_ring_reader *open_reader(const struct gait_event_ring *ring)
{
    struct gait_event_ring_reader *reader;

    followed_call_require(gait_event_ring_reader_open(gait_event_ring_fd(ring), &reader, &err), &err);
    return reader;
}

/* Some work with calls, loops and branches that are not known before. */
static uint64_t work(uint64_t rounds, uint64_t seed);

__attribute__((noinline)) static uint64_t mix(uint64_t value)
{
    value ^= value >> 13;
    return value & 4 ? value * 0x9e3779b97f4a7c15 : value + 77;
}

__attribute__((noinline)) static uint64_t work(uint64_t rounds, uint64_t seed)
{
    for (uint64_t i = 0; i < rounds; i++)
        seed = seed % 3 == 0 ? mix(seed + i) : mix(seed) ^ i;
    return seed;
}

/* ---- the same events --------------------------------------------------------------------------------------------- */

static struct event_list from_sink, from_ring;

static void follow_into_sink(struct gait_stalker *stalker, uint32_t events, uint64_t rounds)
{
    struct gait_follow_options options = followed_options();

    event_list_clear(&from_sink);
    options.events = events;
    options.sink = &from_sink.sink;
    followed_call(stalker, &options, (uintptr_t)work, rounds, 5);
}

static void follow_into_ring(struct gait_stalker *stalker, struct gait_event_ring *ring, uint32_t events,
                             uint64_t rounds)
{
    struct gait_follow_options options = followed_options();

    options.events = events;
    options.ring = ring;
    followed_call(stalker, &options, (uintptr_t)work, rounds, 5);
}

static void check_same_events(void)
{
    CHECK_EQUAL(from_ring.count, from_sink.count);
    for (size_t i = 0; i < from_sink.count && i < from_ring.count; i++)
        if (memcmp(&from_sink.events[i], &from_ring.events[i], sizeof(struct gait_event)) != 0) {
            CHECK_EQUAL(i, SIZE_MAX);
            return;
        }
}

static void a_ring_has_the_events_that_a_sink_gets(void)
{
    struct gait_stalker *stalker = followed_call_stalker();

    for (uint32_t events = 1; events <= EVENTS_IN_CODE; events++) {
        struct gait_event_ring *ring = make_ring(GAIT_RING_DROP, 1 << 20, 4);
        struct gait_event_ring_reader *reader = open_reader(ring);
        uint64_t low = (uintptr_t)mix < (uintptr_t)work ? (uintptr_t)mix : (uintptr_t)work;

        follow_into_sink(stalker, events, 500);
        follow_into_ring(stalker, ring, events, 500);
        event_list_clear(&from_ring);
        CHECK_EQUAL(gait_event_ring_drain(reader, from_ring.sink.process, from_ring.sink.context, &err), 0);
        event_list_filter(&from_sink, events, low, low + 512);
        event_list_filter(&from_ring, events, low, low + 512);
        CHECK(from_ring.count >= 500);
        check_same_events();
        CHECK_EQUAL(gait_event_ring_lost(reader), 0);
        gait_stalker_unfollow_all(stalker, NULL);
        gait_event_ring_reader_close(reader);
        gait_stalker_destroy(stalker);
        gait_event_ring_destroy(ring);
        stalker = followed_call_stalker();
    }
    gait_stalker_destroy(stalker);
}

/* ---- while threads run ------------------------------------------------------------------------------------------- */

#define THREADS 4
#define ROUNDS  300000u

static struct gait_stalker *shared_stalker;
static struct gait_event_ring *shared_ring;
static _Atomic unsigned running;

static void *run_followed(void *result_out)
{
    struct gait_follow_options options = followed_options();

    options.events = GAIT_EVENT_CALL | GAIT_EVENT_RET;
    options.times = true;
    options.ring = shared_ring;
    *(uint64_t *)result_out = followed_call(shared_stalker, &options, (uintptr_t)work, ROUNDS, 5);
    atomic_fetch_sub(&running, 1);
    return NULL;
}

/* What was read, by thread. */
struct reading {
    unsigned thread_count;
    struct {
        uint32_t tid;
        uint64_t calls, time, unordered;
    } threads[THREADS + 1];
};

static int receive(void *context, const struct gait_event *events, size_t count)
{
    struct reading *reading = context;
    unsigned t = 0;

    for (size_t i = 0; i < count; i++) {
        for (t = 0; t < reading->thread_count && reading->threads[t].tid != events[i].tid; t++)
            ;
        if (t == reading->thread_count && t < THREADS)
            reading->threads[reading->thread_count++].tid = events[i].tid;
        reading->threads[t].calls += events[i].kind == GAIT_EVENT_CALL && events[i].target == (uintptr_t)mix;
        reading->threads[t].unordered += events[i].time < reading->threads[t].time;
        reading->threads[t].time = events[i].time;
    }
    return 0;
}

static void threads_that_wait_for_the_reader_lose_nothing(void)
{
    struct gait_event_ring_reader *reader;
    struct reading reading = {0};
    struct gait_clock_pair before, after;
    uint64_t results[THREADS], expected = work(ROUNDS, 5);
    pthread_t threads[THREADS];

    shared_stalker = followed_call_stalker();
    shared_ring = make_ring(GAIT_RING_BLOCK, 16 << 10, 2);
    reader = open_reader(shared_ring);
    gait_clock_read(&before);
    atomic_store(&running, THREADS);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, run_followed, &results[i]), 0);
    while (atomic_load(&running) != 0) {
        CHECK_EQUAL(gait_event_ring_drain(reader, receive, &reading, &err), 0);
        gait_event_ring_wait(reader, 10);
    }
    for (unsigned i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    CHECK_EQUAL(gait_event_ring_drain(reader, receive, &reading, &err), 0);
    gait_clock_read(&after);
    CHECK_EQUAL(gait_event_ring_lost(reader), 0);
    CHECK_EQUAL(followed_statistics(shared_stalker).event_bytes_lost, 0);
    CHECK_EQUAL(reading.thread_count, THREADS);
    for (unsigned i = 0; i < THREADS; i++) {
        uint64_t ns = gait_clock_to_ns(&before, &after, reading.threads[i].time);

        CHECK_EQUAL(results[i], expected);
        CHECK_EQUAL(reading.threads[i].calls, ROUNDS);
        CHECK_EQUAL(reading.threads[i].unordered, 0);
        CHECK(ns > before.monotonic_ns && ns < after.monotonic_ns);
    }
    gait_event_ring_reader_close(reader);
    gait_stalker_destroy(shared_stalker);
    gait_event_ring_destroy(shared_ring);
}

static void what_is_dropped_is_counted(void)
{
    struct gait_stalker *stalker = followed_call_stalker();
    struct gait_event_ring *ring = make_ring(GAIT_RING_DROP, 4096, 2);
    struct gait_event_ring_reader *reader = open_reader(ring);
    struct reading reading = {0};

    follow_into_ring(stalker, ring, GAIT_EVENT_CALL, ROUNDS);
    CHECK_EQUAL(gait_event_ring_drain(reader, receive, &reading, &err), 0);
    CHECK(reading.threads[0].calls > 100);
    /* 16 bytes for each call, and some of what surrounds them. */
    CHECK(gait_event_ring_lost(reader) >= 16 * (ROUNDS - reading.threads[0].calls));
    CHECK(gait_event_ring_lost(reader) <= 16 * (ROUNDS - reading.threads[0].calls) + 4096);
    CHECK_EQUAL(followed_statistics(stalker).event_bytes_lost, gait_event_ring_lost(reader));
    gait_event_ring_reader_close(reader);
    gait_stalker_destroy(stalker);
    gait_event_ring_destroy(ring);
}

static void the_last_events_are_kept_if_that_is_wanted(void)
{
    struct gait_stalker *stalker = followed_call_stalker();
    struct gait_event_ring *ring = make_ring(GAIT_RING_OVERWRITE, 64 << 10, 4);
    struct gait_event_ring_reader *reader = open_reader(ring);
    struct reading reading = {0};

    follow_into_ring(stalker, ring, GAIT_EVENT_CALL, ROUNDS);
    CHECK_EQUAL(gait_event_ring_drain(reader, receive, &reading, &err), 0);
    CHECK(reading.threads[0].calls >= 3 * (64 << 10) / 16 - 100 && reading.threads[0].calls <= 4 * (64 << 10) / 16);
    CHECK_EQUAL(followed_statistics(stalker).event_bytes_lost, 0);
    gait_event_ring_reader_close(reader);
    gait_stalker_destroy(stalker);
    gait_event_ring_destroy(ring);
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

static struct gait_event_ring *children_ring;

static void die_followed(uint64_t calls)
{
    struct gait_follow_options options = followed_options();
    struct gait_stalker *stalker = followed_call_stalker();

    options.events = GAIT_EVENT_CALL;
    options.ring = children_ring;
    if (gait_stalker_follow_me(stalker, &options, NULL) != 0)
        _exit(1);
    /* So that it is not left out. */
    if (work(calls, 5) == 0)
        _exit(2);
    kill(getpid(), SIGKILL);
}

static void events_of_a_process_that_was_killed_are_there(void)
{
    struct gait_event_ring_reader *reader;
    struct reading reading = {0};
    int status;
    pid_t child;

    children_ring = make_ring(GAIT_RING_DROP, 1 << 20, 8);
    reader = open_reader(children_ring);
    child = fork();
    if (child == 0)
        die_followed(20000);
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK_EQUAL(gait_event_ring_drain(reader, receive, &reading, &err), 0);
    CHECK_EQUAL(reading.threads[0].tid, child);
    CHECK_EQUAL(reading.threads[0].calls, 20000);
    gait_event_ring_reader_close(reader);
    gait_event_ring_destroy(children_ring);
}

static uint64_t fork_and_work(uint64_t rounds, uint64_t seed)
{
    pid_t child = fork();
    int status;

    if (child == 0)
        _exit(work(rounds / 2, seed) == 0);
    return waitpid(child, &status, 0) == child && status == 0 ? work(rounds, seed) : 0;
}

static void a_forked_child_does_not_write_as_its_parent(void)
{
    struct gait_follow_options options = followed_options();
    struct gait_stalker *stalker = followed_call_stalker();
    struct gait_event_ring *ring = make_ring(GAIT_RING_DROP, 1 << 20, 8);
    struct gait_event_ring_reader *reader = open_reader(ring);
    struct reading reading = {0};

    options.events = GAIT_EVENT_CALL;
    options.ring = ring;
    CHECK_EQUAL(followed_call(stalker, &options, (uintptr_t)fork_and_work, 20000, 5), work(20000, 5));
    CHECK_EQUAL(gait_event_ring_drain(reader, receive, &reading, &err), 0);
    CHECK_EQUAL(reading.thread_count, 1);
    CHECK_EQUAL(reading.threads[0].calls, 20000);
    gait_event_ring_reader_close(reader);
    gait_stalker_destroy(stalker);
    gait_event_ring_destroy(ring);
}

/* ---- bad input --------------------------------------------------------------------------------------------------- */

static void wrong_options_are_refused_with_a_reason(void)
{
    struct gait_event_ring_options options = {.size_bytes = sizeof(options), .overflow = 3};
    struct gait_event_ring *untouched = NULL;

    CHECK_EQUAL(gait_event_ring_create(&options, &untouched, &err), -EINVAL);
    CHECK(strstr(err.text, "overflow is 3") != NULL);
    options = (struct gait_event_ring_options){.size_bytes = sizeof(options), .buffer_count = 1};
    CHECK_EQUAL(gait_event_ring_create(&options, &untouched, &err), -EINVAL);
    CHECK(strstr(err.text, "buffer_count is 1") != NULL);
    options = (struct gait_event_ring_options){.size_bytes = sizeof(options), .buffer_bytes = 100};
    CHECK_EQUAL(gait_event_ring_create(&options, &untouched, &err), -EINVAL);
    CHECK(strstr(err.text, "buffer_bytes is 100") != NULL);
    CHECK(untouched == NULL);
    gait_event_ring_destroy(NULL);
    gait_event_ring_reader_close(NULL);
}

static void what_is_no_ring_is_refused_with_a_reason(void)
{
    struct gait_event_ring_reader *untouched = NULL;

    CHECK_EQUAL(gait_event_ring_reader_open(-1, &untouched, &err), -EBADF);
    CHECK_EQUAL(gait_event_ring_reader_open(STDERR_FILENO, &untouched, &err), -err.code);
    CHECK(err.code > 0 && strstr(err.text, "descriptor 2") != NULL);
    CHECK(untouched == NULL);
}

static void a_sink_and_a_ring_at_once_are_refused(void)
{
    struct gait_stalker *stalker = followed_call_stalker();
    struct gait_event_ring *ring = make_ring(GAIT_RING_DROP, 0, 0);
    struct gait_follow_options options = followed_options();

    options.ring = ring;
    options.sink = &from_sink.sink;
    CHECK_EQUAL(gait_stalker_follow_me(stalker, &options, &err), -EINVAL);
    CHECK(strstr(err.text, "not to both") != NULL);
    gait_stalker_destroy(stalker);
    gait_event_ring_destroy(ring);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_ring_has_the_events_that_a_sink_gets),
    CHECK_CASE(threads_that_wait_for_the_reader_lose_nothing),
    CHECK_CASE(what_is_dropped_is_counted),
    CHECK_CASE(the_last_events_are_kept_if_that_is_wanted),
    CHECK_CASE(events_of_a_process_that_was_killed_are_there),
    CHECK_CASE(a_forked_child_does_not_write_as_its_parent),
    CHECK_CASE(wrong_options_are_refused_with_a_reason),
    CHECK_CASE(what_is_no_ring_is_refused_with_a_reason),
    CHECK_CASE(a_sink_and_a_ring_at_once_are_refused),
};

int main(void)
{
    event_list_init(&from_sink, 1 << 20);
    event_list_init(&from_ring, 1 << 20);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}

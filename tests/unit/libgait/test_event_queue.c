/* SPDX-License-Identifier: MIT */
#include "gait/event_sinks.h"

#include "support/check.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define EVENTS  50000
#define THREADS 3

struct received {
    _Atomic uint64_t count;
    uint64_t lost;
    uint64_t next[THREADS]; /* the location that each thread's next event has */
    bool out_of_order;
};

static void receive(void *context, const struct gait_event *events, size_t count, uint64_t lost)
{
    struct received *received = context;

    for (size_t i = 0; i < count; i++) {
        uint64_t *next = &received->next[events[i].tid];

        received->out_of_order |= events[i].location < *next;
        *next = events[i].location + 1;
    }
    atomic_fetch_add(&received->count, count);
    received->lost += lost;
}

struct source {
    const struct gait_event_sink *sink;
    uint32_t tid;
    size_t count;
};

static void *give(void *context)
{
    const struct source *source = context;
    struct gait_event events[7];

    for (size_t given = 0; given < source->count; given += 7) {
        for (size_t i = 0; i < 7; i++)
            events[i] = (struct gait_event){.kind = GAIT_EVENT_EXEC, .location = given + i, .tid = source->tid};
        CHECK_EQUAL(source->sink->process(source->sink->context, events, 7), 0);
    }
    return NULL;
}

static struct gait_event_queue *create(struct gait_event_queue_options options, struct received *received)
{
    struct gait_event_queue *queue = NULL;
    struct gait_error err;

    options.size_bytes = sizeof(options);
    options.receive = receive;
    options.context = received;
    CHECK_EQUAL(gait_event_queue_create(&options, &queue, &err), 0);
    return queue;
}

static void a_full_queue_drops_and_counts(void)
{
    struct received received = {0};
    struct gait_event_queue *queue =
        create((struct gait_event_queue_options){.capacity = 100, .manual = true}, &received);
    struct source source = {gait_event_queue_sink(queue), 0, 700};

    give(&source);
    CHECK_EQUAL(gait_event_queue_lost(queue), 600);
    CHECK_EQUAL(received.count, 0);
    gait_event_queue_drain(queue);
    CHECK_EQUAL(received.count, 100);
    CHECK_EQUAL(received.lost, 600);
    gait_event_queue_drain(queue);
    CHECK_EQUAL(received.count, 100);
    CHECK_EQUAL(received.lost, 600);
    gait_event_queue_destroy(queue);
    CHECK_EQUAL(received.count, 100);
}

static void give_from_threads(struct gait_event_queue *queue, size_t count)
{
    struct source sources[THREADS];
    pthread_t threads[THREADS];

    for (uint32_t i = 0; i < THREADS; i++) {
        sources[i] = (struct source){gait_event_queue_sink(queue), i, count};
        CHECK_EQUAL(pthread_create(&threads[i], NULL, give, &sources[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void threads_that_wait_lose_nothing(void)
{
    struct received received = {0};
    struct gait_event_queue *queue = create(
        (struct gait_event_queue_options){.capacity = 64, .block_when_full = true, .drain_interval_ms = 1}, &received);

    give_from_threads(queue, EVENTS / 7 * 7);
    gait_event_queue_destroy(queue);
    CHECK_EQUAL(received.count, (uint64_t)THREADS * (EVENTS / 7 * 7));
    CHECK_EQUAL(received.lost, 0);
    CHECK(!received.out_of_order);
}

static void what_is_received_and_what_is_lost_add_up_in_order(void)
{
    struct received received = {0};
    struct gait_event_queue *queue =
        create((struct gait_event_queue_options){.capacity = 256, .drain_interval_ms = 1}, &received);

    give_from_threads(queue, EVENTS / 7 * 7);
    gait_event_queue_destroy(queue);
    CHECK_EQUAL(received.count + received.lost, (uint64_t)THREADS * (EVENTS / 7 * 7));
    CHECK(!received.out_of_order);
}

static void options_that_make_no_sense_are_refused(void)
{
    struct gait_event_queue_options options = {.size_bytes = sizeof(options)};
    struct gait_event_queue *queue = NULL;
    struct gait_error err;

    CHECK_EQUAL(gait_event_queue_create(&options, &queue, &err), -EINVAL);
    CHECK(strstr(err.text, "receive") != NULL);
    options.receive = receive;
    options.manual = options.block_when_full = true;
    CHECK_EQUAL(gait_event_queue_create(&options, &queue, &err), -EINVAL);
    CHECK(strstr(err.text, "block_when_full") != NULL);
    options.size_bytes = 0;
    CHECK_EQUAL(gait_event_queue_create(&options, &queue, &err), -EINVAL);
    CHECK(queue == NULL);
    gait_event_queue_destroy(NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_full_queue_drops_and_counts),
    CHECK_CASE(threads_that_wait_lose_nothing),
    CHECK_CASE(what_is_received_and_what_is_lost_add_up_in_order),
    CHECK_CASE(options_that_make_no_sense_are_refused),
};

CHECK_MAIN(cases)

/* SPDX-License-Identifier: MIT */
/*
 * A ring of events between followed threads, which put them in, and one receiver at a time. `lock` guards the ring;
 * `receiving` is held by whoever takes events out, so that batches stay in order. Invariant: used <= capacity.
 */
#include "gait/event_sinks.h"

#include "hosted/error_text.h"
#include "hosted/system_clock.h"
#include "libgait/export.h"
#include "libgait/options.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CAPACITY_DEFAULT    16384
#define INTERVAL_DEFAULT_MS 250
#define BATCH               256

struct gait_event_queue {
    struct gait_event_sink sink;
    struct gait_event_queue_options options;
    pthread_mutex_t lock;
    pthread_cond_t wake; /* the queue's thread: half full, or the end */
    pthread_cond_t room; /* followed threads that wait */
    pthread_mutex_t receiving;
    pthread_t thread;
    bool has_thread;
    bool is_ending;
    size_t first;
    size_t used;
    uint64_t lost;
    uint64_t lost_reported;
    struct gait_event events[];
};

static const struct options_type queue_options = {
    "make an event queue",
    "gait_event_queue_options",
    sizeof(struct gait_event_queue_options),
};

/* Puts in what there is room for and returns how much that is. Under the lock. */
static size_t put(struct gait_event_queue *queue, const struct gait_event *events, size_t count)
{
    size_t capacity = queue->options.capacity;
    size_t room = capacity - queue->used;
    size_t taken = count < room ? count : room;

    for (size_t i = 0; i < taken; i++)
        queue->events[(queue->first + queue->used + i) % capacity] = events[i];
    queue->used += taken;
    return taken;
}

static int process(void *context, const struct gait_event *events, size_t count)
{
    struct gait_event_queue *queue = context;
    size_t taken;

    pthread_mutex_lock(&queue->lock);
    for (taken = put(queue, events, count); taken < count && queue->options.block_when_full && !queue->is_ending;
         taken += put(queue, events + taken, count - taken)) {
        pthread_cond_signal(&queue->wake);
        pthread_cond_wait(&queue->room, &queue->lock);
    }
    queue->lost += count - taken;
    if (queue->used >= queue->options.capacity / 2)
        pthread_cond_signal(&queue->wake);
    pthread_mutex_unlock(&queue->lock);
    return 0;
}

/* Takes a batch out. Under the lock. */
static size_t take(struct gait_event_queue *queue, struct gait_event *batch)
{
    size_t count = queue->used < BATCH ? queue->used : BATCH;

    for (size_t i = 0; i < count; i++)
        batch[i] = queue->events[(queue->first + i) % queue->options.capacity];
    queue->first = (queue->first + count) % queue->options.capacity;
    queue->used -= count;
    pthread_cond_broadcast(&queue->room);
    return count;
}

EXPORT void gait_event_queue_drain(struct gait_event_queue *queue)
{
    struct gait_event batch[BATCH];
    uint64_t lost;
    size_t count;

    pthread_mutex_lock(&queue->receiving);
    do {
        pthread_mutex_lock(&queue->lock);
        count = take(queue, batch);
        lost = queue->lost - queue->lost_reported;
        queue->lost_reported = queue->lost;
        pthread_mutex_unlock(&queue->lock);
        if (count != 0 || lost != 0)
            queue->options.receive(queue->options.context, batch, count, lost);
    } while (count == BATCH);
    pthread_mutex_unlock(&queue->receiving);
}

/* Waits until there is much to do, or the interval is over. False: the end. */
static bool wait_for_work(struct gait_event_queue *queue)
{
    struct timespec until = system_clock_deadline(queue->options.drain_interval_ms);
    bool goes_on;

    pthread_mutex_lock(&queue->lock);
    if (!queue->is_ending && queue->used < queue->options.capacity / 2)
        pthread_cond_timedwait(&queue->wake, &queue->lock, &until);
    goes_on = !queue->is_ending;
    pthread_mutex_unlock(&queue->lock);
    return goes_on;
}

static void *run(void *context)
{
    struct gait_event_queue *queue = context;

    while (wait_for_work(queue))
        gait_event_queue_drain(queue);
    return NULL;
}

static int read_options(const struct gait_event_queue_options *given, struct gait_event_queue_options *options_out,
                        struct gait_error *err)
{
    int result = options_read(&queue_options, given, options_out, err);

    if (result != 0)
        return result;
    if (options_out->receive == NULL)
        return error_set(err, EINVAL, "cannot make an event queue: it has no receive function");
    if (options_out->manual && options_out->block_when_full)
        return error_set(err, EINVAL,
                         "cannot make an event queue: no reader would make room for threads that wait; choose one of "
                         "manual and block_when_full");
    if (options_out->capacity == 0)
        options_out->capacity = CAPACITY_DEFAULT;
    if (options_out->drain_interval_ms == 0)
        options_out->drain_interval_ms = INTERVAL_DEFAULT_MS;
    return 0;
}

static void init_locks(struct gait_event_queue *queue)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&queue->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_cond_init(&queue->room, NULL);
    pthread_mutex_init(&queue->lock, NULL);
    pthread_mutex_init(&queue->receiving, NULL);
}

EXPORT int gait_event_queue_create(const struct gait_event_queue_options *options, struct gait_event_queue **queue_out,
                                   struct gait_error *err)
{
    struct gait_event_queue_options chosen;
    struct gait_event_queue *queue;
    int result = read_options(options, &chosen, err);

    if (result != 0)
        return result;
    queue = calloc(1, sizeof(*queue) + chosen.capacity * sizeof(queue->events[0]));
    if (queue == NULL)
        return error_set(err, ENOMEM, "cannot make an event queue: no memory for %zu events", chosen.capacity);
    queue->options = chosen;
    queue->sink = (struct gait_event_sink){process, queue};
    init_locks(queue);
    if (!chosen.manual) {
        result = pthread_create(&queue->thread, NULL, run, queue);
        queue->has_thread = result == 0;
    }
    if (result != 0) {
        gait_event_queue_destroy(queue);
        return error_set(err, result, "cannot make an event queue: no thread for it: %s", strerror(result));
    }
    *queue_out = queue;
    return 0;
}

EXPORT void gait_event_queue_destroy(struct gait_event_queue *queue)
{
    if (queue == NULL)
        return;
    pthread_mutex_lock(&queue->lock);
    queue->is_ending = true;
    pthread_cond_broadcast(&queue->wake);
    pthread_cond_broadcast(&queue->room);
    pthread_mutex_unlock(&queue->lock);
    if (queue->has_thread)
        pthread_join(queue->thread, NULL);
    gait_event_queue_drain(queue);
    pthread_cond_destroy(&queue->wake);
    pthread_cond_destroy(&queue->room);
    pthread_mutex_destroy(&queue->lock);
    pthread_mutex_destroy(&queue->receiving);
    free(queue);
}

EXPORT const struct gait_event_sink *gait_event_queue_sink(struct gait_event_queue *queue)
{
    return &queue->sink;
}

EXPORT uint64_t gait_event_queue_lost(struct gait_event_queue *queue)
{
    uint64_t lost;

    pthread_mutex_lock(&queue->lock);
    lost = queue->lost;
    pthread_mutex_unlock(&queue->lock);
    return lost;
}

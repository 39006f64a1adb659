/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "record/disk_sync.h"

#include "hosted/system_clock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct disk_sync {
    struct disk_sync_options options;
    int folder;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool is_over; /* under the lock */
    int result;   /* of the thread, once it has ended */
};

static int synchronize(const struct disk_sync *sync)
{
    return syncfs(sync->folder) == 0 ? 0 : -errno;
}

/* Sleeps until the next time, or the end. */
static bool wait_for_turn(struct disk_sync *sync)
{
    struct timespec until = system_clock_deadline((uint64_t)sync->options.seconds * 1000);
    bool is_over;

    pthread_mutex_lock(&sync->lock);
    while (!sync->is_over && pthread_cond_timedwait(&sync->change, &sync->lock, &until) != ETIMEDOUT)
        ;
    is_over = sync->is_over;
    pthread_mutex_unlock(&sync->lock);
    return !is_over;
}

static void *run(void *context)
{
    struct disk_sync *sync = context;

    while (wait_for_turn(sync)) {
        int result = synchronize(sync);

        sync->result = sync->result == 0 ? result : sync->result;
    }
    return NULL;
}

/* Signals are for whoever records. */
static int start_thread(struct disk_sync *sync)
{
    sigset_t all, before;
    int result;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    result = pthread_create(&sync->thread, NULL, run, sync);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -result;
}

static void init_lock(struct disk_sync *sync)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&sync->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&sync->change, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void give_back(struct disk_sync *sync)
{
    pthread_cond_destroy(&sync->change);
    pthread_mutex_destroy(&sync->lock);
    free(sync);
}

int disk_sync_begin(const struct disk_sync_options *options, int folder, struct disk_sync **sync_out)
{
    struct disk_sync *sync = calloc(1, sizeof(*sync));
    int result = 0;

    if (sync == NULL)
        return -ENOMEM;
    sync->options = *options;
    sync->folder = folder;
    init_lock(sync);
    if (options->when == DISK_SYNC_SECONDS)
        result = start_thread(sync);
    if (result != 0) {
        give_back(sync);
        return result;
    }
    *sync_out = sync;
    return 0;
}

static void end_thread(struct disk_sync *sync)
{
    pthread_mutex_lock(&sync->lock);
    sync->is_over = true;
    pthread_cond_signal(&sync->change);
    pthread_mutex_unlock(&sync->lock);
    pthread_join(sync->thread, NULL);
}

int disk_sync_end(struct disk_sync *sync)
{
    int result;

    if (sync->options.when == DISK_SYNC_SECONDS)
        end_thread(sync);
    result = sync->result;
    if (result == 0 && sync->options.when != DISK_SYNC_NEVER)
        result = synchronize(sync);
    give_back(sync);
    return result;
}

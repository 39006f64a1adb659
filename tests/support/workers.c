/* SPDX-License-Identifier: MIT */
/* One counter hands out the numbers; the first thread is the caller's own. */
#include "support/workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_WORKERS 64

struct crew {
    void (*job)(void *context, unsigned worker, size_t number);
    void *context;
    size_t count;
    atomic_size_t next;
};

struct worker {
    struct crew *crew;
    unsigned number;
    pthread_t thread;
};

unsigned workers_count(void)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    return cpus < 1 ? 1 : cpus > MAX_WORKERS ? MAX_WORKERS : (unsigned)cpus;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct crew *crew = worker->crew;

    for (;;) {
        /* The numbers are independent of each other, and joining the threads orders their results. */
        size_t number = atomic_fetch_add_explicit(&crew->next, 1, memory_order_relaxed);

        if (number >= crew->count)
            return NULL;
        crew->job(crew->context, worker->number, number);
    }
}

void workers_run(size_t count, void (*job)(void *context, unsigned worker, size_t number), void *context)
{
    struct crew crew = {.job = job, .context = context, .count = count};
    struct worker workers[MAX_WORKERS];
    unsigned threads = workers_count();

    for (unsigned i = 0; i < threads; i++) {
        workers[i] = (struct worker){.crew = &crew, .number = i};
        if (i > 0 && pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            perror("cannot start a thread");
            exit(1);
        }
    }
    work(&workers[0]);
    for (unsigned i = 1; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
}

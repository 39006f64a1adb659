/* SPDX-License-Identifier: MIT */
/* The caller is one of the workers. One that cannot be started leaves its work to the others. */
#include "query/thread_pass.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

struct pass_worker {
    const struct thread_pass *pass;
    atomic_size_t *next; /* of all */
    unsigned number;
    bool is_started;
    pthread_t thread;
    int result;
};

static void *work(void *context)
{
    struct pass_worker *worker = context;
    const struct thread_pass *pass = worker->pass;
    size_t thread;

    while (worker->result == 0 &&
           (thread = atomic_fetch_add_explicit(worker->next, 1, memory_order_relaxed)) < pass->trace->thread_count)
        if (pass->wanted == NULL || pass->wanted[thread])
            worker->result = pass->read(pass->context, worker->number, thread);
    return NULL;
}

static size_t workers_for(const struct view_trace *trace)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t count = processors < 1 ? 1 : processors > THREAD_PASS_WORKERS ? THREAD_PASS_WORKERS : (size_t)processors;

    return trace->thread_count < count ? trace->thread_count : count;
}

int thread_pass_run(const struct thread_pass *pass)
{
    struct pass_worker workers[THREAD_PASS_WORKERS];
    size_t count = workers_for(pass->trace);
    atomic_size_t next = 0;
    int result = 0;

    for (size_t i = 0; i < count; i++) {
        workers[i] = (struct pass_worker){.pass = pass, .next = &next, .number = (unsigned)i};
        if (i + 1 == count)
            work(&workers[i]);
        else
            workers[i].is_started = pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (workers[i].is_started)
            pthread_join(workers[i].thread, NULL);
        result = result == 0 ? workers[i].result : result;
    }
    return result;
}

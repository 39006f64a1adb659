/* SPDX-License-Identifier: MIT */
/* Threads: many that share a mutex, a condition and a barrier, and many that live for a moment. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#define WORKERS 4
#define ITEMS   2000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static unsigned queued, taken;
static unsigned long sum;
static _Atomic unsigned long atomic_sum;

static void *consume(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&lock);
    while (taken < ITEMS) {
        if (taken == queued) {
            pthread_cond_wait(&changed, &lock);
            continue;
        }
        sum += ++taken;
        atomic_fetch_add(&atomic_sum, taken);
    }
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *square(void *number)
{
    return (void *)((uintptr_t)number * (uintptr_t)number);
}

static unsigned long short_lived(void)
{
    unsigned long total = 0;

    for (uintptr_t i = 0; i < 300; i++) {
        pthread_t thread;
        void *result;

        if (pthread_create(&thread, NULL, square, (void *)i) != 0)
            return 0;
        pthread_join(thread, &result);
        total += (uintptr_t)result;
    }
    return total;
}

int main(void)
{
    pthread_t workers[WORKERS];

    pthread_barrier_init(&barrier, NULL, WORKERS + 1);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, consume, NULL);
    pthread_barrier_wait(&barrier);
    for (unsigned i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&lock);
        queued++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    printf("sum %lu, atomically %lu\n", sum, (unsigned long)atomic_sum);
    printf("short-lived %lu\n", short_lived());
    return 0;
}

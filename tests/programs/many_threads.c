/* SPDX-License-Identifier: MIT */
/* A thousand threads at once, each with work of its own, signals and storage of its own. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>

#define THREADS 1000

static pthread_barrier_t all_there;
static __thread uint64_t own;
static __thread volatile int signals;
static int missing;

static void on_signal(int number)
{
    signals += number == SIGUSR1;
}

static uint64_t compute(uint64_t value)
{
    for (int i = 0; i < 500; i++)
        value = value * 6364136223846793005ull + (value >> 33) % (unsigned)(i + 1);
    return value;
}

static void *work(void *argument)
{
    own = compute((uintptr_t)argument);
    pthread_barrier_wait(&all_there);
    pthread_kill(pthread_self(), SIGUSR1);
    own ^= compute(own);
    if (signals != 1)
        __atomic_fetch_add(&missing, 1, __ATOMIC_RELAXED);
    pthread_barrier_wait(&all_there);
    return (void *)(uintptr_t)(own & 0xffffffff);
}

int main(void)
{
    static pthread_t threads[THREADS];
    pthread_attr_t attributes;
    uint64_t sum = 0;

    signal(SIGUSR1, on_signal);
    pthread_barrier_init(&all_there, NULL, THREADS);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], &attributes, work, (void *)(i + 1)) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++) {
        void *result;

        pthread_join(threads[i], &result);
        sum += (uintptr_t)result;
    }
    printf("%lx, %d missing\n", (unsigned long)sum, missing);
    return missing != 0;
}

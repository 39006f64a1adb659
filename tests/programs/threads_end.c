/* SPDX-License-Identifier: MIT */
/* Threads that end in every way: return, exit, cancellation while they sleep, at a point of theirs, and at once. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define ROUNDS 40

static pthread_key_t key;
static atomic_int cleaned, destroyed, ready;
static int pipe_ends[2];

static void clean(void *argument)
{
    cleaned += (int)(intptr_t)argument;
}

static void destroy(void *value)
{
    destroyed += (int)(intptr_t)value;
}

static void *returns(void *argument)
{
    pthread_setspecific(key, (void *)1);
    return argument;
}

static __attribute__((noinline)) void exit_deep(int depth, void *value)
{
    if (depth == 0)
        pthread_exit(value);
    if (depth < 0)
        return;
    exit_deep(depth - 1, value);
    cleaned += 1000; /* nobody comes back here */
}

static void *exits(void *argument)
{
    pthread_setspecific(key, (void *)10);
    pthread_cleanup_push(clean, (void *)1);
    exit_deep(20, argument);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *sleeps(void *argument)
{
    char byte;

    pthread_cleanup_push(clean, (void *)2);
    ready = 1;
    while (read(pipe_ends[0], &byte, 1) == 1)
        ;
    pthread_cleanup_pop(0);
    return argument;
}

static void *tests(void *argument)
{
    pthread_cleanup_push(clean, (void *)3);
    ready = 1;
    for (;;)
        pthread_testcancel();
    pthread_cleanup_pop(0);
    return argument;
}

static void *computes(void *argument)
{
    volatile uint64_t sum = 0;

    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_cleanup_push(clean, (void *)4);
    ready = 1;
    for (;;)
        sum = sum * 3 + 1;
    pthread_cleanup_pop(0);
    return argument;
}

static int end(void *(*start)(void *), int is_cancelled)
{
    pthread_t thread;
    void *result;

    ready = 0;
    if (pthread_create(&thread, NULL, start, (void *)7) != 0)
        return -100;
    while (is_cancelled && !ready)
        usleep(100);
    if (is_cancelled)
        pthread_cancel(thread);
    pthread_join(thread, &result);
    return result == PTHREAD_CANCELED ? -1 : (int)(intptr_t)result;
}

int main(void)
{
    int sums[5] = {0};

    if (pipe(pipe_ends) != 0 || pthread_key_create(&key, destroy) != 0)
        return 1;
    for (int i = 0; i < ROUNDS; i++) {
        sums[0] += end(returns, 0);
        sums[1] += end(exits, 0);
        sums[2] += end(sleeps, 1);
        sums[3] += end(tests, 1);
        sums[4] += end(computes, 1);
    }
    printf("%d %d %d %d %d, cleaned %d, destroyed %d\n", sums[0], sums[1], sums[2], sums[3], sums[4], cleaned,
           destroyed);
    fflush(stdout);
    pthread_exit(NULL); /* the last thread: status 0 */
}

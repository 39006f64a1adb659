/* SPDX-License-Identifier: MIT */
/* Signals between threads: each is handled by the thread that it was sent to. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

#define THREADS 3
#define SIGNALS 100

static __thread volatile sig_atomic_t own;
static atomic_uint handled;
static pthread_barrier_t barrier;

static void on_signal(int number)
{
    (void)number;
    own++;
    atomic_fetch_add(&handled, 1);
}

static void *receive(void *own_out)
{
    pthread_barrier_wait(&barrier);
    while (own < SIGNALS)
        ;
    *(int *)own_out = own;
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int counts[THREADS];

    signal(SIGUSR1, on_signal);
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, receive, &counts[i]);
    pthread_barrier_wait(&barrier);
    for (unsigned sent = 0; sent < SIGNALS * THREADS; sent++) {
        pthread_kill(threads[sent % THREADS], SIGUSR1);
        while (atomic_load(&handled) <= sent)
            ;
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        printf("thread %d: %d\n", i, counts[i]);
    }
    printf("main thread: %d\n", (int)own);
    return 0;
}

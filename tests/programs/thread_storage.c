/* SPDX-License-Identifier: MIT */
/* Each thread has its own errno, thread variables and keys with destructors. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define THREADS 8

static __thread unsigned counter = 5;
static __thread char buffer[64];
static pthread_key_t key;
static unsigned destroyed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void on_destroy(void *value)
{
    pthread_mutex_lock(&lock);
    destroyed += (unsigned)(uintptr_t)value;
    pthread_mutex_unlock(&lock);
}

static __attribute__((noinline)) unsigned count(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        counter += i % 3;
    return counter;
}

static void *body(void *number)
{
    uintptr_t wrong = 0, self = (uintptr_t)number;

    pthread_setspecific(key, number);
    snprintf(buffer, sizeof(buffer), "thread %lu", (unsigned long)self);
    for (int i = 0; i < 1000; i++) {
        errno = (int)self;
        count(self);
        if (i % 100 == 0) {
            wrong += close(-1) != -1 || errno != EBADF;
            errno = (int)self;
        }
        wrong += errno != (int)self || (uintptr_t)pthread_getspecific(key) != self;
    }
    return (void *)(wrong * 1000000 + counter);
}

int main(void)
{
    pthread_t threads[THREADS];

    pthread_key_create(&key, on_destroy);
    errno = 77;
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, body, (void *)(i + 1));
    for (unsigned i = 0; i < THREADS; i++) {
        void *result;

        pthread_join(threads[i], &result);
        printf("thread %u: %lu\n", i, (unsigned long)(uintptr_t)result);
    }
    printf("errno %d, counter %u, buffer '%s', destroyed %u\n", errno, counter, buffer, destroyed);
    return 0;
}

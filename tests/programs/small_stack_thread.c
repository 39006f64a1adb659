/* SPDX-License-Identifier: MIT */
/* Threads with the smallest stack that there may be, which nobody else has room on. */
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static __attribute__((noinline)) unsigned climb(unsigned depth)
{
    volatile unsigned here = depth;

    return depth == 0 ? 1 : climb(depth - 1) * 3 + here;
}

static void *body(void *depth)
{
    uintptr_t result = 0;

    for (int i = 0; i < 100; i++)
        result = result * 5 + climb((unsigned)(uintptr_t)depth) + (getppid() == 0);
    return (void *)result;
}

int main(void)
{
    pthread_attr_t attributes;

    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN) != 0)
        return 1;
    for (uintptr_t i = 0; i < 20; i++) {
        pthread_t thread;
        void *result;

        if (pthread_create(&thread, &attributes, body, (void *)i) != 0)
            return 1;
        pthread_join(thread, &result);
        printf("%lu: %lx\n", (unsigned long)i, (unsigned long)(uintptr_t)result);
    }
    return 0;
}

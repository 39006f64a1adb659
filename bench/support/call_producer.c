/* SPDX-License-Identifier: MIT */
/*
 * Needs nothing but libc, for it is also compiled alone, with CALL_PRODUCER_MAIN, in the ways that other tracers want:
 * call_producer THREADS CALLS [THOUSANDS_PER_SECOND].
 */
#include "call_producer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS_MAX 64
#define DEPTH       3
#define MULTIPLIER  6364136223846793005ull

struct production {
    pthread_t thread;
    uint64_t calls;
    unsigned per_ms; /* 0: as many as can be */
    uint64_t sum;
};

/* None of them may be inlined, nor called last, which would make it a jump. */
#define FUNCTION __attribute__((noinline)) static uint64_t

FUNCTION leaf(uint64_t bits)
{
    return bits >> 7 ^ bits;
}

FUNCTION other_leaf(uint64_t bits)
{
    return bits >> 9 ^ bits;
}

FUNCTION left(uint64_t bits, unsigned depth);

FUNCTION right(uint64_t bits, unsigned depth)
{
    uint64_t next = bits * MULTIPLIER + 1;

    if (depth == 1)
        return leaf(next) + other_leaf(bits);
    return (next >> 63 ? left(next, depth - 1) : right(next, depth - 1)) + left(bits, depth - 1);
}

FUNCTION left(uint64_t bits, unsigned depth)
{
    uint64_t next = bits * MULTIPLIER + 3;

    if (depth == 1)
        return (next >> 63 ? leaf(next) : other_leaf(next)) + leaf(bits);
    return right(next, depth - 1) + (next >> 62 & 1 ? left(bits, depth - 1) : right(bits, depth - 1));
}

static void wait_until(struct timespec *next)
{
    next->tv_nsec += 1000000;
    if (next->tv_nsec >= 1000000000) {
        next->tv_nsec -= 1000000000;
        next->tv_sec++;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL);
}

static void *produce(void *context)
{
    struct production *production = context;
    uint64_t made = 0, due = 0;
    struct timespec next;

    clock_gettime(CLOCK_MONOTONIC, &next);
    while (made < production->calls) {
        production->sum += left(production->sum + made, DEPTH);
        made += CALL_PRODUCER_TREE;
        if (production->per_ms != 0 && made >= due + production->per_ms) {
            due += production->per_ms;
            wait_until(&next);
        }
    }
    return NULL;
}

uint64_t call_producer_run(unsigned threads, uint64_t calls, unsigned thousands_per_second)
{
    struct production productions[THREADS_MAX];
    uint64_t sum = 0;

    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    for (unsigned i = 0; i < threads; i++) {
        productions[i] = (struct production){.calls = calls, .per_ms = thousands_per_second};
        if (pthread_create(&productions[i].thread, NULL, produce, &productions[i]) != 0)
            exit(2);
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(productions[i].thread, NULL);
        sum += productions[i].sum;
    }
    return sum;
}

#ifdef CALL_PRODUCER_MAIN
int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    printf("%llu\n", (unsigned long long)call_producer_run((unsigned)atoi(argv[1]), strtoull(argv[2], NULL, 0),
                                                           argc > 3 ? (unsigned)atoi(argv[3]) : 0));
    return 0;
}
#endif

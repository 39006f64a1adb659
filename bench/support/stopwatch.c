/* SPDX-License-Identifier: MIT */
/* Interleaved rounds on the thread's CPU clock. */
#include "support/stopwatch.h"

#include <time.h>

static double now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

void stopwatch_compare(struct contestant *contestants, size_t count, int rounds, void *context)
{
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < count; i++) {
            struct contestant *contestant = &contestants[i];
            double start = now_ns();

            contestant->count = contestant->run(context);

            double each = (now_ns() - start) / (double)contestant->count;

            if (round == 0 || each < contestant->best_ns)
                contestant->best_ns = each;
        }
    }
}

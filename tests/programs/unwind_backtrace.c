/* SPDX-License-Identifier: MIT */
/* backtrace: as many frames as there are calls, each inside of the program's own code. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>

static int frames_at_main, strange;

static int count_frames(void)
{
    void *frames[200];
    int count = backtrace(frames, 200);

    for (int i = 0; i < count; i++) {
        Dl_info where;

        strange += dladdr(frames[i], &where) == 0 || where.dli_fname == NULL;
    }
    return count;
}

static __attribute__((noinline)) int at_depth(int depth)
{
    volatile int here = depth;
    int count = depth == 0 ? count_frames() : at_depth(depth - 1);

    return count + here * 0;
}

static int from_library(const void *a, const void *b)
{
    static int shown;

    if (!shown++)
        printf("from a library: %s\n", count_frames() > frames_at_main + 2 ? "deeper" : "not deeper");
    return *(const int *)a - *(const int *)b;
}

int main(void)
{
    int numbers[] = {3, 1, 2};

    frames_at_main = count_frames();
    for (int depth = 0; depth < 50; depth += 7)
        printf("depth %d: %d more frames\n", depth, at_depth(depth) - frames_at_main);
    qsort(numbers, 3, sizeof(numbers[0]), from_library);
    printf("%d strange\n", strange);
    return strange != 0;
}

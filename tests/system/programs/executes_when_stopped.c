/* SPDX-License-Identifier: MIT */
/*
 * executes_when_stopped COUNT: looks at the clock all the time, for at most half a second. When it has stood still, as
 * somebody who attaches to it makes it do, it executes itself at once, COUNT times at most. Then it works a while, and
 * tells the result.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define STANDSTILL_NS 1000000LL
#define PATIENCE_NS   500000000LL

__attribute__((noinline)) int work(int i);

int work(int i)
{
    usleep(10000);
    return i % 3;
}

static long long now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static bool stands_still(void)
{
    long long before = now_ns(), end = before + PATIENCE_NS;

    while (before < end) {
        long long now = now_ns();

        if (now - before >= STANDSTILL_NS)
            return true;
        before = now;
    }
    return false;
}

int main(int argc, char *argv[])
{
    int count = argc > 1 ? atoi(argv[1]) : 0, sum = 0;
    char less[16];

    snprintf(less, sizeof(less), "%d", count - 1);
    if (count > 0 && stands_still())
        execl(argv[0], argv[0], less, (char *)NULL);
    for (int i = 0; i < 60; i++)
        sum += work(i);
    printf("%d\n", sum);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Clocks, most of which need no system call: they do not go backwards and agree with each other. */
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

static long long nanoseconds(clockid_t clock)
{
    struct timespec now;

    return clock_gettime(clock, &now) == 0 ? now.tv_sec * 1000000000ll + now.tv_nsec : -1;
}

int main(void)
{
    static const clockid_t clocks[] = {CLOCK_REALTIME,         CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW,
                                       CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME,  CLOCK_THREAD_CPUTIME_ID};
    struct timeval old;
    struct timespec resolution;
    int backwards = 0;

    for (unsigned i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
        long long before = nanoseconds(clocks[i]);

        for (int round = 0; round < 2000; round++) {
            long long now = nanoseconds(clocks[i]);

            backwards += now < before;
            before = now;
        }
    }
    printf("%d times backwards\n", backwards);
    gettimeofday(&old, NULL);
    /* time reads a coarser clock, which may not have reached this second */
    long long apart = nanoseconds(CLOCK_REALTIME) / 1000000000 - old.tv_sec, seconds = time(NULL) - old.tv_sec;
    printf("%s, %s\n", apart >= 0 && apart < 10 ? "together" : "apart",
           seconds >= -1 && seconds < 10 ? "now" : "not now");
    printf("no such clock: %d\n", clock_gettime(12345, &resolution));
    printf("resolution: %d\n", clock_getres(CLOCK_MONOTONIC, &resolution));
    return backwards != 0;
}

/* SPDX-License-Identifier: MIT */
/* Gets a signal every 100 microseconds, and goes on working. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <time.h>

static volatile long drops;

static void on_signal(int number)
{
    (void)number;
    drops++;
}

int main(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    struct itimerspec often = {{0, 100000}, {0, 100000}}, never = {{0, 0}, {0, 0}};
    unsigned long sum = 0;
    time_t end = time(NULL) + 4;
    timer_t timer;

    signal(SIGRTMIN, on_signal);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &often, NULL) != 0)
        return 1;
    puts("rains");
    fflush(stdout);
    while (time(NULL) < end)
        for (int i = 0; i < 1000; i++)
            sum += (unsigned long)i % 7;
    timer_settime(timer, 0, &never, NULL);
    printf("%d\n", drops > 1000 && sum > 0);
    return 0;
}

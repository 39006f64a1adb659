/* SPDX-License-Identifier: MIT */
/*
 * Three phases, each of many calls of a function of its own, and something in the middle: phases MILLISECONDS [WHAT].
 * Says how often each function was called.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CALLED __attribute__((noinline, noclone, noipa))

static volatile int sum;
static int counts[3];

CALLED void work_a(int i)
{
    sum += i;
    counts[0]++;
}

CALLED void work_b(int i)
{
    sum -= i;
    counts[1]++;
}

CALLED void work_c(int i)
{
    sum ^= i;
    counts[2]++;
}

CALLED void middle(int ms)
{
    struct timespec pause = {0, ms * 1000000l};

    nanosleep(&pause, NULL);
}

static void on_signal(int signal)
{
    sum += signal;
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void phase(void (*work)(int), int64_t ms)
{
    int64_t end = now_ms() + ms;

    for (int i = 0; now_ms() < end; i++) {
        work(i);
        usleep(1000);
    }
}

static void happen(const char *what)
{
    if (strcmp(what, "signal") == 0)
        raise(SIGUSR1);
    else if (strcmp(what, "segv") == 0)
        *(volatile int *)16 = 1;
    else if (strcmp(what, "abort") == 0)
        abort();
    else if (strcmp(what, "kill") == 0)
        raise(SIGKILL);
    else if (strcmp(what, "slow") == 0)
        middle(80);
    else
        middle(1);
}

int main(int count, char **arguments)
{
    int64_t ms = count > 1 ? atoi(arguments[1]) : 100;

    signal(SIGUSR1, on_signal);
    phase(work_a, ms);
    phase(work_b, ms);
    happen(count > 2 ? arguments[2] : "");
    phase(work_b, ms);
    phase(work_c, ms);
    printf("%d %d %d\n", counts[0], counts[1], counts[2]);
    return 0;
}

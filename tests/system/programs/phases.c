/* SPDX-License-Identifier: MIT */
/*
 * Four phases, each of many calls of a function, and something in the middle: phases MILLISECONDS [WHAT]. What is
 * "until" goes on until SIGUSR1 comes. Says of each call what it was and between which times of the counter it
 * happened: "name number before after".
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CALLED __attribute__((noinline, noclone, noipa))

/* A call: by its number in its phase, begun and ended between two readings of the counter. */
struct call {
    const char *name;
    int number;
    uint64_t before;
    uint64_t after;
};

static volatile int sum;
static volatile sig_atomic_t was_told;
static struct call calls[100000];
static int call_count;

CALLED void work_a(int number)
{
    sum += number;
}

CALLED void work_b(int number)
{
    sum -= number;
}

CALLED void work_c(int number)
{
    sum ^= number;
}

CALLED void middle(int ms)
{
    struct timespec pause = {0, ms * 1000000l};

    nanosleep(&pause, NULL);
}

static void on_signal(int signal)
{
    sum += signal;
    was_told = 1;
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void phase(const char *name, void (*work)(int), int64_t ms)
{
    int64_t end = now_ms() + ms;

    for (int i = 0; now_ms() < end && call_count < 100000; i++) {
        struct call *call = &calls[call_count++];

        *call = (struct call){.name = name, .number = i, .before = __builtin_ia32_rdtsc()};
        work(i);
        call->after = __builtin_ia32_rdtsc();
        usleep(1000);
    }
}

static void say(void)
{
    for (int i = 0; i < call_count; i++)
        printf("%s 0x%x %llu %llu\n", calls[i].name, calls[i].number, (unsigned long long)calls[i].before,
               (unsigned long long)calls[i].after);
    fflush(stdout);
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
    else if (strcmp(what, "until") == 0)
        while (!was_told)
            phase("work_b", work_b, 20);
    else if (strcmp(what, "slow") == 0)
        middle(80);
    else
        middle(1);
}

int main(int count, char **arguments)
{
    int64_t ms = count > 1 ? atoi(arguments[1]) : 100;
    const char *what = count > 2 ? arguments[2] : "";

    signal(SIGUSR1, on_signal);
    phase("work_a", work_a, ms);
    phase("work_b", work_b, ms);
    if (strcmp(what, "segv") == 0 || strcmp(what, "abort") == 0 || strcmp(what, "kill") == 0)
        say();
    happen(what);
    phase("work_b", work_b, ms);
    phase("work_c", work_c, ms);
    say();
    return 0;
}

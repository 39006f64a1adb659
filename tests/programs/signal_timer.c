/* SPDX-License-Identifier: MIT */
/* A timer interrupts computation of every kind some hundred times; what is computed must not notice. */
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#define WANTED 200

static volatile sig_atomic_t ticks;
static volatile double from_handler;

static void on_tick(int number)
{
    (void)number;
    ticks++;
    from_handler = sqrt((double)ticks) * 1.5;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static uint64_t compute(void)
{
    static int numbers[500];
    uint64_t sum = 1;
    double x = 0.5;

    for (int i = 0; i < 500; i++)
        numbers[i] = (i * 7919) % 1009;
    qsort(numbers, 500, sizeof(numbers[0]), compare);
    for (int i = 0; i < 500; i++) {
        sum = sum * 31 + (uint64_t)numbers[i];
        x = x * 3.7 * (1 - x);
    }
    return sum + (uint64_t)(x * 1e6);
}

int main(void)
{
    struct itimerval interval = {{0, 1000}, {0, 1000}}, none = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    uint64_t expected = compute();
    unsigned wrong = 0;

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &interval, NULL);
    while (ticks < WANTED)
        wrong += compute() != expected;
    setitimer(ITIMER_REAL, &none, NULL);
    printf("%016lx, %u times wrong\n", (unsigned long)expected, wrong);
    return wrong != 0;
}

/* SPDX-License-Identifier: MIT */
/* A handler that interrupts a function which is called all the time, and never comes back. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

#define JUMPS 3000

static sigjmp_buf place;
static volatile int count;

static void set_timer(long period_us)
{
    struct itimerval timer = {{0, period_us}, {0, period_us}};

    setitimer(ITIMER_REAL, &timer, NULL);
}

static void tick(int signal)
{
    (void)signal;
    if (++count == JUMPS)
        set_timer(0);
    siglongjmp(place, 1);
}

__attribute__((noinline)) static int interrupted(int number)
{
    __asm__ volatile("" : "+r"(number));
    return number + 1;
}

int main(void)
{
    volatile int sum = 0;

    signal(SIGALRM, tick);
    set_timer(200);
    sigsetjmp(place, 1);
    while (count < JUMPS)
        sum = interrupted(sum);
    puts("jumped");
    return 0;
}

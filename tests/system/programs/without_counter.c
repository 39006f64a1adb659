/* SPDX-License-Identifier: MIT */
/* Forbids itself the counter of time, tells that it has, and goes on working. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

__attribute__((noinline)) int work(int i);

int work(int i)
{
    usleep(10000);
    return i % 3;
}

/* It is not to come, and to stay. */
static void on_fault(int number)
{
    (void)number;
    _exit(5);
}

int main(void)
{
    int sum = 0;
    struct sigaction action = {.sa_handler = on_fault};

    sigaction(SIGSEGV, &action, NULL);
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0)
        return 77;
    puts("forbidden");
    fflush(stdout);
    for (int i = 0; i < 100; i++)
        sum += work(i);
    sigaction(SIGSEGV, NULL, &action);
    printf("%d\n", action.sa_handler == on_fault ? sum : -1);
    return 0;
}

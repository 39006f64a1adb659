/* SPDX-License-Identifier: MIT */
/* Forbids itself the counter of time, tells that it has, and goes on working. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

__attribute__((noinline)) int work(int i);

int work(int i)
{
    usleep(10000);
    return i % 3;
}

int main(void)
{
    int sum = 0;

    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0)
        return 77;
    puts("forbidden");
    fflush(stdout);
    for (int i = 0; i < 100; i++)
        sum += work(i);
    printf("%d\n", sum);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A program whose every step is known: 1000 calls of a function with arguments, 1000 system calls, 100 passes of a
 * static probe that is passed only if its semaphore says that somebody looks. It sleeps once, so that it ceases to run.
 */
#define _GNU_SOURCE
#include "gait/probe.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

GAIT_PROBE_SEMAPHORE(probed, passed);

__attribute__((noinline)) int add_up(int first, const char *name, unsigned long count);

int add_up(int first, const char *name, unsigned long count)
{
    __asm__ volatile("" ::: "memory");
    return first + (name[0] == 'w') + (int)count;
}

__attribute__((noinline)) static void pass(int number, long total)
{
    GAIT_PROBE_IF_ENABLED(probed, passed, number, total);
}

int main(void)
{
    long sum = 0;

    for (int i = 0; i < 1000; i++)
        sum += add_up(i, "word", 5);
    for (int i = 0; i < 1000; i++)
        sum += syscall(SYS_getppid) != 0;
    for (int i = 0; i < 100; i++)
        pass(i, i * 1000L);
    usleep(1000);
    return sum == 0;
}

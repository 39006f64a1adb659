/* SPDX-License-Identifier: MIT */
/*
 * A program that makes threads, one after the other and on a stack which it has, when there is no more memory for
 * anybody: more than anybody has a reserve for.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define THREADS 100

static char stack[64 << 10] __attribute__((aligned(64)));

static int work(void *argument)
{
    int sum = 0;

    for (int i = 0; i < 1000; i++)
        sum += i ^ *(int *)argument;
    *(int *)argument = sum;
    return 3;
}

int main(void)
{
    struct rlimit none = {0, 0}, before;
    int value = 5, sum = 0, status = -1, made;

    getrlimit(RLIMIT_AS, &before);
    none.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_AS, &none);
    for (int i = 0; i < THREADS; i++) {
        made = clone(work, stack + sizeof(stack), CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, &value);
        waitpid(made, &status, 0);
        sum += made > 0 && status == 3 << 8;
    }
    setrlimit(RLIMIT_AS, &before);
    printf("%d %d\n", sum, value);
    return 0;
}

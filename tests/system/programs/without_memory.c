/* SPDX-License-Identifier: MIT */
/* A program that makes a thread, on a stack which it has, when there is no more memory for anybody. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

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
    int value = 5, status = -1, made;

    getrlimit(RLIMIT_AS, &before);
    none.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_AS, &none);
    made = clone(work, stack + sizeof(stack), CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, &value);
    waitpid(made, &status, 0);
    setrlimit(RLIMIT_AS, &before);
    printf("%d %x %d\n", made > 0, (unsigned)status, value);
    return 0;
}

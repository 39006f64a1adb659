/* SPDX-License-Identifier: MIT */
/* System calls that are made deep down: in a function that the library calls back, in a thread, in a signal handler. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEEP __attribute__((noinline, noclone))

static DEEP void make_call(int which)
{
    syscall(SYS_getpgid, which);
    __asm__ volatile("");
}

static DEEP int compare(const void *left, const void *right)
{
    make_call(1);
    return *(const int *)left - *(const int *)right;
}

static DEEP void sort(void)
{
    int numbers[] = {3, 1, 2};

    qsort(numbers, 3, sizeof(numbers[0]), compare);
    __asm__ volatile("");
}

static DEEP void *in_thread(void *argument)
{
    make_call(2);
    return argument;
}

static DEEP void handle(int signal)
{
    (void)signal;
    make_call(3);
}

static DEEP void recurse(int depth)
{
    if (depth == 0)
        make_call(4);
    else
        recurse(depth - 1);
    __asm__ volatile("");
}

int main(void)
{
    pthread_t thread;

    sort();
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
    signal(SIGUSR1, handle);
    raise(SIGUSR1);
    recurse(10);
    recurse(100);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A loop of system calls or of calls, and what one takes of the CPU, in nanoseconds: probed_loop call|syscall COUNT
 * [THREADS]
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long count;
static int is_call;

__attribute__((noinline, visibility("default"))) long probed(long number);

long probed(long number)
{
    __asm__ volatile("push %%rax; pop %%rax" : "+r"(number));
    return number + 1;
}

static void *loop(void *unused)
{
    long sum = 0;

    (void)unused;
    for (long i = 0; i < count; i++)
        sum += is_call ? probed(i) : syscall(SYS_getppid);
    return (void *)sum;
}

int main(int argument_count, char **arguments)
{
    int thread_count = argument_count > 3 ? atoi(arguments[3]) : 1;
    pthread_t threads[64];
    struct timespec used, began, ended;
    double elapsed;

    if (argument_count < 3 || thread_count < 1 || thread_count > 64)
        return 2;
    is_call = strcmp(arguments[1], "call") == 0;
    count = atol(arguments[2]);
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (int i = 0; i < thread_count; i++)
        if (pthread_create(&threads[i], NULL, loop, NULL) != 0)
            return 1;
    for (int i = 0; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    elapsed = (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9;
    fprintf(stderr, "loop %.1f %.0f\n",
            ((double)used.tv_sec * 1e9 + (double)used.tv_nsec) / (double)(count * thread_count),
            (double)(count * thread_count) / elapsed);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Stacks that overflow, of the first thread and of others, caught on another stack; the address is below the stack. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <ucontext.h>

#define TIMES      5
#define STACK_SIZE (64 << 10)

static __thread sigjmp_buf before;
static __thread uintptr_t low, high;
static int caught, strange;

static void on_overflow(int number, siginfo_t *info, void *context)
{
    uintptr_t place = (uintptr_t)info->si_addr, here = (uintptr_t)&place;

    (void)context;
    __atomic_fetch_add(&caught, 1, __ATOMIC_RELAXED);
    /* A fault just below the frames, handled elsewhere. */
    if (number != SIGSEGV || place > low || low - place > 65536 || (here >= low && here < high))
        __atomic_fetch_add(&strange, 1, __ATOMIC_RELAXED);
    siglongjmp(before, 1);
}

static __attribute__((noinline)) int deep(int level)
{
    volatile char room[200];

    room[level % 200] = (char)level;
    low = (uintptr_t)room;
    return level < 0 ? 0 : deep(level + 1) + room[level % 200];
}

static void *overflow(void *argument)
{
    volatile int jumps = 0;
    char *memory = malloc(STACK_SIZE);
    stack_t other = {.ss_sp = memory, .ss_size = STACK_SIZE};

    high = (uintptr_t)&memory;
    if (memory == NULL || sigaltstack(&other, NULL) != 0)
        abort();
    for (int i = 0; i < TIMES; i++)
        if (sigsetjmp(before, 1) == 0)
            deep(0);
        else
            jumps++;
    other.ss_flags = SS_DISABLE;
    sigaltstack(&other, NULL);
    free(memory);
    return (void *)(intptr_t)(jumps + (argument != NULL));
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct rlimit small = {1 << 20, 1 << 20};
    pthread_t threads[4];
    int jumps;

    setrlimit(RLIMIT_STACK, &small);
    sigaction(SIGSEGV, &action, NULL);
    jumps = (int)(intptr_t)overflow(NULL);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, overflow, &jumps);
    for (int i = 0; i < 4; i++) {
        void *result;

        pthread_join(threads[i], &result);
        jumps += (int)(intptr_t)result;
    }
    printf("%d jumps, %d caught, %d strange\n", jumps, caught, strange);
    return strange != 0;
}

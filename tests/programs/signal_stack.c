/* SPDX-License-Identifier: MIT */
/* Handlers on a stack of their own: a stack that overflowed, and long jumps out of it. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>

static char other_stack[65536];
static sigjmp_buf place;
static volatile sig_atomic_t on_other_stack, overflows;

static int is_on_other_stack(void)
{
    char here;

    return (uintptr_t)&here >= (uintptr_t)other_stack &&
           (uintptr_t)&here < (uintptr_t)other_stack + sizeof(other_stack);
}

static void on_signal(int number)
{
    (void)number;
    on_other_stack += is_on_other_stack();
}

static void on_overflow(int number, siginfo_t *info, void *context)
{
    (void)info;
    (void)context;
    overflows++;
    on_other_stack += is_on_other_stack();
    siglongjmp(place, number);
}

static volatile unsigned deepest, bottom = -1u;

static __attribute__((noinline)) unsigned overflow(unsigned depth)
{
    volatile char room[4096];

    room[0] = (char)depth;
    deepest = depth;
    return depth == bottom ? depth : overflow(depth + 1) + (unsigned)room[0];
}

int main(void)
{
    static volatile int rounds;
    stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof(other_stack)}, old;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    struct rlimit limit = {1 << 20, 1 << 20};

    setrlimit(RLIMIT_STACK, &limit);
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 100; i++)
        raise(SIGUSR1);
    printf("%d on the other stack\n", on_other_stack);
    action = (struct sigaction){.sa_sigaction = on_overflow, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    while (rounds++ < 5) {
        if (sigsetjmp(place, 1) == 0)
            overflow(0);
    }
    printf("%d overflows, %d on the other stack\n", overflows, on_other_stack);
    sigaltstack(NULL, &old);
    printf("%s\n", old.ss_sp == other_stack && old.ss_flags == 0 ? "still set" : "changed");
    return 0;
}

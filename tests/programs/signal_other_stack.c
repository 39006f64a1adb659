/* SPDX-License-Identifier: MIT */
/* Handlers that nest on a stack of their own, which is disarmed meanwhile or is not, under a timer. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#define WANTED 300
#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif

static char other_stack[131072];
static volatile sig_atomic_t ticks, off, wrong, refused;
static volatile uint64_t sink;

static int is_on_it(const void *here)
{
    return (uintptr_t)here >= (uintptr_t)other_stack && (uintptr_t)here < (uintptr_t)other_stack + sizeof(other_stack);
}

static uint64_t work(unsigned rounds)
{
    volatile unsigned char room[512];
    uint64_t sum = 0;

    memset((void *)room, (int)rounds, sizeof(room));
    for (unsigned i = 0; i < rounds; i++)
        sum = sum * 31 + room[i % sizeof(room)] + i;
    return sum;
}

static void on_tick(int number)
{
    char here;

    off += !is_on_it(&here) || number != SIGALRM;
    ticks++;
    sink += work(50);
}

static void on_outer(int number)
{
    stack_t now, new = {.ss_sp = other_stack, .ss_size = sizeof(other_stack)};
    uint64_t expected = work(3000);
    char here;

    off += !is_on_it(&here) || number != SIGUSR1;
    for (int i = 0; i < 20; i++)
        wrong += work(3000) != expected;
    sigaltstack(NULL, &now);
    wrong += now.ss_flags != SS_ONSTACK;
    refused += sigaltstack(&new, NULL) != 0 && errno == EPERM;
}

static void on_disarmed(int number)
{
    stack_t now;
    char here;

    off += !is_on_it(&here) || number != SIGUSR2;
    sigaltstack(NULL, &now);
    wrong += now.ss_flags != SS_DISABLE;
}

int main(void)
{
    struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof(other_stack)},
            small = {.ss_sp = other_stack, .ss_size = 9};
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_ONSTACK | SA_RESTART};
    int rounds = 0;

    printf("%d small, %d set\n", sigaltstack(&small, NULL), sigaltstack(&stack, NULL));
    sigaction(SIGALRM, &action, NULL);
    action.sa_handler = on_outer;
    sigaction(SIGUSR1, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    while (ticks < WANTED) {
        rounds++;
        raise(SIGUSR1);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%d off the stack, %d wrong, %d not refused\n", off, wrong, rounds - refused);
    stack.ss_flags = (int)SS_AUTODISARM;
    sigaltstack(&stack, NULL);
    action.sa_handler = on_disarmed;
    sigaction(SIGUSR2, &action, NULL);
    for (int i = 0; i < 10; i++)
        raise(SIGUSR2);
    sigaltstack(NULL, &stack);
    printf("%d off the stack, %d wrong, flags %x\n", off, wrong, (unsigned)stack.ss_flags);
    return off != 0 || wrong != 0;
}

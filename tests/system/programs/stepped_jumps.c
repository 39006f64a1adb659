/* SPDX-License-Identifier: MIT */
/*
 * Calls a function step by step, and leaves it by a long jump out of a signal handler after the first instruction, then
 * after the second and so on: so also wherever in code of others the call is on its way. Then calls another one, which
 * nothing happens to, as often as its argument says.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS_MOST 400

static sigjmp_buf start;
static volatile int steps, wanted;
static volatile int sum;

__attribute__((noinline)) static int stepped(int value)
{
    __asm__ volatile("nop; nop; nop; nop; nop; nop");
    return value + 1;
}

__attribute__((noinline)) static int undisturbed(int value)
{
    __asm__ volatile("nop; nop; nop; nop; nop; nop");
    return value + 2;
}

static void on_step(int number)
{
    (void)number;
    if (++steps == wanted)
        siglongjmp(start, 1);
}

/* Whether it came to its end before that many steps. */
static int step(int count)
{
    steps = 0;
    wanted = count;
    if (sigsetjmp(start, 1) != 0)
        return 0;
    __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "cc", "memory");
    sum += stepped(1);
    __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "cc", "memory");
    return 1;
}

int main(int argument_count, char **arguments)
{
    int calls = argument_count > 1 ? atoi(arguments[1]) : 1;
    struct sigaction action = {.sa_handler = on_step};
    int count = 1;

    sigaction(SIGTRAP, &action, NULL);
    while (count < STEPS_MOST && !step(count))
        count++;
    for (int i = 0; i < calls; i++)
        sum += undisturbed(i);
    printf("%d steps\n", count);
    return count == STEPS_MOST;
}

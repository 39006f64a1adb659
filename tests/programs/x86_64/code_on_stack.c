/* SPDX-License-Identifier: MIT */
/* Code on the stack, another one each time at much the same address, called with signals coming in. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

static volatile int ticks;

static void on_tick(int number)
{
    ticks += number == SIGALRM;
}

/* mov $value, %eax; add (%rdi), %eax; ret */
static __attribute__((noinline)) int run_on_stack(int value, int other)
{
    volatile uint8_t code[16];
    uint8_t made[] = {0xb8, 0, 0, 0, 0, 0x03, 0x07, 0xc3};

    memcpy(made + 1, &value, 4);
    memcpy((void *)code, made, sizeof(made));
    return ((int (*)(int *))(uintptr_t)code)(&other);
}

static int deep(int depth, int value)
{
    return depth == 0 ? run_on_stack(value, 1) : deep(depth - 1, value) + run_on_stack(depth, value);
}

int main(void)
{
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    uintptr_t here = (uintptr_t)&often & ~(uintptr_t)4095;
    unsigned sum = 0;

    /* As of an executable that wants it so. */
    if (mprotect((void *)(here - (64 << 10)), 68 << 10, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return 1;
    signal(SIGALRM, on_tick);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 2000 || ticks < 20; i++)
        sum += i < 2000 ? (unsigned)deep(i % 9, i) : 0;
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%u\n", sum);
    return 0;
}

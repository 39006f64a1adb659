/* SPDX-License-Identifier: MIT */
/*
 * Puts a breakpoint into a function of its own and handles the signal that comes of it, then takes it back: what a
 * program writes into its code is meant. Prints what it sees.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

static volatile int traps;
static uint8_t *place, original;

__attribute__((noinline, aligned(64))) static int watched(int value)
{
    __asm__ volatile("nop" ::: "memory");
    return value + 1;
}

static void write_code(uint8_t byte)
{
    uint8_t *page = place - (uintptr_t)place % 4096;

    mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    *place = byte;
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

static void trapped(int signal_number)
{
    (void)signal_number;
    traps++;
    write_code(original);
}

int main(void)
{
    int sum = 0;

    place = (uint8_t *)(uintptr_t)&watched;
    original = *place;
    signal(SIGTRAP, trapped);
    sum += watched(1);
    write_code(0xcc);
    /* The instruction of one byte is passed over: the handler returns behind it, and the next ones do their work. */
    sum += watched(2);
    sum += watched(3);
    printf("%d traps, %d\n", traps, sum);
    return 0;
}

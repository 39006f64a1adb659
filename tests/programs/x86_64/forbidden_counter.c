/* SPDX-License-Identifier: MIT */
/* The counter of time, which a program may forbid itself: then each look at it is a fault, of which it makes what it
 * likes. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <ucontext.h>

/* Whoever follows it has to look. */
extern const char program_may_be_left;
const char program_may_be_left = 1;

static volatile int faults;

/* The instruction gives a number of ours. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

    (void)number;
    (void)info;
    faults++;
    registers[REG_RAX] = faults;
    registers[REG_RDX] = 0;
    registers[REG_RIP] += 2;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    uint64_t sum = 0;
    char text[64];

    sigaction(SIGSEGV, &action, NULL);
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0)
        return 1;
    for (int i = 0; i < 200; i++) {
        sum += __builtin_ia32_rdtsc();
        /* Code that did not run before. */
        if (i % 50 == 0)
            snprintf(text, sizeof(text), "%d %s %f", i, "text", i * 1.5);
        sum += strlen(text);
    }
    /* Enough for any buffer to be full. */
    for (volatile int i = 0; i < 1000000; i++)
        sum += i % 3 == 0;
    prctl(PR_SET_TSC, PR_TSC_ENABLE);
    printf("%d faults, %lu, %d\n", faults, (unsigned long)sum, __builtin_ia32_rdtsc() > 1000);
    return 0;
}

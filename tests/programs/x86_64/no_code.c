/* SPDX-License-Identifier: MIT */
/* Goes where there is no code, again and again, and comes back by its handlers. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define ROUNDS 20

typedef int (*function)(int value);

static sigjmp_buf back;
static volatile uint64_t expected, address;
static volatile int faults, wrong;
static uint8_t *volatile page;

static void on_fault(int number, siginfo_t *info, void *context)
{
    uint64_t pc = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

    faults++;
    wrong += pc != expected || (uint64_t)(uintptr_t)info->si_addr != address;
    siglongjmp(back, number);
}

/* Lets what is there run after all, and goes back to it. */
static void on_fault_allow(int number)
{
    (void)number;
    faults++;
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

static int go(uint64_t pc, uint64_t faulting_pc, uint64_t faulting_address)
{
    int number = sigsetjmp(back, 1);

    expected = faulting_pc;
    address = faulting_address;
    if (number == 0)
        ((function)(uintptr_t)pc)(1);
    return number;
}

int main(void)
{
    static const uint8_t code[] = {0x90, 0x90, 0x06}, good[] = {0x8d, 0x47, 0x07, 0xc3};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    int sum = 0;

    page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, sizeof(code));
    memset(page + 4094, 0x0f, 1);
    page[4095] = 0x0f;
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
    sigaction(SIGILL, &action, NULL);
    sigaction(SIGSEGV, &action, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t start = (uint64_t)(uintptr_t)page;

        sum += go(start, start + 2, start + 2);
        sum += go(0, 0, 0);
        sum += go(start + 4096, start + 4096, start + 4096);
        sum += go(start + 4095, start + 4095, start + 4096);
    }
    printf("%d faults, %d, %d wrong\n", faults, sum, wrong);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    memcpy(page, good, sizeof(good));
    mprotect(page, 4096, PROT_READ);
    signal(SIGSEGV, on_fault_allow);
    sum = ((function)(uintptr_t)page)(5);
    printf("%d, %d faults\n", sum, faults);
    return wrong != 0;
}

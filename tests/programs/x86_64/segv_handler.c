/* SPDX-License-Identifier: MIT */
/* Faults on purpose: a handler sees where and why, and goes on behind the instruction, or mends the cause. */
#define _GNU_SOURCE

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

uint64_t load_or(const uint64_t *address, uint64_t otherwise);
void store(uint64_t *address, uint64_t value);
extern const char load_instruction[], load_failed[], store_instruction[];

/* The way null checks are left out: a fault at load_instruction goes on at load_failed. */
__asm__(".text\n"
        ".globl load_or\n.globl load_instruction\n.globl load_failed\n.globl store\n.globl store_instruction\n"
        "load_or:\n"
        "    mov $0x77, %ecx\n"
        "    stc\n"
        "load_instruction:\n"
        "    mov (%rdi), %rax\n"
        "    ret\n"
        "load_failed:\n"
        "    mov %rsi, %rax\n"
        "    adc $0, %rax\n"
        "    add %rcx, %rax\n"
        "    ret\n"
        "store:\n"
        "store_instruction:\n"
        "    mov %rsi, (%rdi)\n"
        "    ret\n");

static uint8_t *page;
static volatile int faults, mended, strange;

static void on_fault(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

    faults++;
    strange += number != SIGSEGV || (void *)registers[REG_RDI] != info->si_addr;
    if (registers[REG_RIP] == (greg_t)(uintptr_t)load_instruction) {
        strange += registers[REG_RCX] != 0x77 || !(registers[REG_EFL] & 1) || info->si_code != SEGV_MAPERR;
        registers[REG_RIP] = (greg_t)(uintptr_t)load_failed;
        registers[REG_RCX]++;
    } else if (registers[REG_RIP] == (greg_t)(uintptr_t)store_instruction) {
        strange += info->si_code != SEGV_ACCERR;
        mprotect(page, 4096, PROT_READ | PROT_WRITE);
        mended++;
    } else {
        strange += 1000;
        _exit(3);
    }
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    uint64_t number = 5, sum = 0;

    sigaction(SIGSEGV, &action, NULL);
    for (uint64_t i = 0; i < 100; i++)
        sum = sum * 3 + load_or(i % 3 == 0 ? (const uint64_t *)(i * 8) : &number, i);
    printf("sum %lx, %d faults, %d strange\n", (unsigned long)sum, faults, strange);

    page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (uint64_t i = 0; i < 10; i++) {
        mprotect(page, 4096, PROT_READ);
        store((uint64_t *)(page + i * 8), i + 100);
        sum += *(uint64_t *)(page + i * 8);
    }
    printf("sum %lx, %d faults, %d mended, %d strange\n", (unsigned long)sum, faults, mended, strange);
    return strange != 0;
}

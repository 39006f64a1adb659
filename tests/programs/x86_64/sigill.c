/* SPDX-License-Identifier: MIT */
/* An instruction that does not exist: the handler skips it. */
#define _GNU_SOURCE

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <ucontext.h>

uint64_t sigill_once(uint64_t value);
extern const char sigill_instruction[], sigill_next[];

__asm__(".text\n"
        ".globl sigill_once\n.globl sigill_instruction\n.globl sigill_next\n"
        "sigill_once:\n"
        "    mov %rdi, %rax\n"
        "    mov $0, %edx\n"
        "    mov $0, %ecx\n"
        "sigill_instruction:\n"
        "    ud2\n"
        "sigill_next:\n"
        "    add $3, %rax\n"
        "    ret\n");

static volatile int caught, strange;

static void on_signal(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

    caught++;
    strange += number != SIGILL;
    strange += registers[REG_RIP] != (greg_t)(uintptr_t)sigill_instruction;
    strange += info->si_addr != (void *)sigill_instruction;
    registers[REG_RIP] = (greg_t)(uintptr_t)sigill_next;
    registers[REG_RAX] += 100;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    uint64_t sum = 0;

    sigaction(SIGILL, &action, NULL);
    for (uint64_t i = 0; i < 50; i++)
        sum = sum * 3 + sigill_once(i);
    printf("sum %lx, %d caught, %d strange\n", (unsigned long)sum, caught, strange);
    return strange != 0;
}

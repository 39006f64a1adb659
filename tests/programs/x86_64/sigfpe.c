/* SPDX-License-Identifier: MIT */
/* Division by zero: the handler skips the division. */
#define _GNU_SOURCE

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <ucontext.h>

uint64_t sigfpe_once(uint64_t value);
extern const char sigfpe_instruction[], sigfpe_next[];

__asm__(".text\n"
        ".globl sigfpe_once\n.globl sigfpe_instruction\n.globl sigfpe_next\n"
        "sigfpe_once:\n"
        "    mov %rdi, %rax\n"
        "    mov $0, %edx\n"
        "    mov $0, %ecx\n"
        "sigfpe_instruction:\n"
        "    div %rcx\n"
        "sigfpe_next:\n"
        "    add $3, %rax\n"
        "    ret\n");

static volatile int caught, strange;

static void on_signal(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

    caught++;
    strange += number != SIGFPE;
    strange += registers[REG_RIP] != (greg_t)(uintptr_t)sigfpe_instruction;
    strange += info->si_addr != (void *)sigfpe_instruction || info->si_code != FPE_INTDIV;
    registers[REG_RIP] = (greg_t)(uintptr_t)sigfpe_next;
    registers[REG_RAX] += 100;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    uint64_t sum = 0;

    sigaction(SIGFPE, &action, NULL);
    for (uint64_t i = 0; i < 50; i++)
        sum = sum * 3 + sigfpe_once(i);
    printf("sum %lx, %d caught, %d strange\n", (unsigned long)sum, caught, strange);
    return strange != 0;
}

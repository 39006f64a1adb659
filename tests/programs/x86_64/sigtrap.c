/* SPDX-License-Identifier: MIT */
/* A breakpoint: the handler finds itself behind it. */
#define _GNU_SOURCE

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <ucontext.h>

uint64_t sigtrap_once(uint64_t value);
extern const char sigtrap_instruction[], sigtrap_next[];

__asm__(".text\n"
        ".globl sigtrap_once\n.globl sigtrap_instruction\n.globl sigtrap_next\n"
        "sigtrap_once:\n"
        "    mov %rdi, %rax\n"
        "    mov $0, %edx\n"
        "    mov $0, %ecx\n"
        "sigtrap_instruction:\n"
        "    int3\n"
        "sigtrap_next:\n"
        "    add $3, %rax\n"
        "    ret\n");

static volatile int caught, strange;

static void on_signal(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

    (void)info;
    caught++;
    strange += number != SIGTRAP;
    strange += registers[REG_RIP] != (greg_t)(uintptr_t)sigtrap_next;
    registers[REG_RIP] = (greg_t)(uintptr_t)sigtrap_next;
    registers[REG_RAX] += 100;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    uint64_t sum = 0;

    sigaction(SIGTRAP, &action, NULL);
    for (uint64_t i = 0; i < 50; i++)
        sum = sum * 3 + sigtrap_once(i);
    printf("sum %lx, %d caught, %d strange\n", (unsigned long)sum, caught, strange);
    return strange != 0;
}

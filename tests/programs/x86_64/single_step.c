/* SPDX-License-Identifier: MIT */
/* The trap flag, set by the program itself: a trap behind each instruction, at its address. */
#define _GNU_SOURCE

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <ucontext.h>

uint64_t stepped(uint64_t value);
extern const char stepped_start[], stepped_end[];

__asm__(".text\n"
        ".globl stepped\n.globl stepped_start\n.globl stepped_end\n"
        "stepped:\n"
        "    mov %rdi, %rax\n"
        "    pushfq\n"
        "    orl $0x100, (%rsp)\n"
        "    popfq\n"
        "stepped_start:\n"
        "    nop\n"
        "    add $1, %rax\n"
        "    jmp 1f\n"
        "    ud2\n"
        "1:  imul $3, %rax, %rax\n"
        "    pushfq\n"
        "    andl $~0x100, (%rsp)\n"
        "    popfq\n"
        "stepped_end:\n"
        "    ret\n");

static volatile int traps, outside;

static void on_trap(int number, siginfo_t *info, void *context)
{
    uintptr_t pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

    (void)number;
    (void)info;
    traps++;
    outside += pc < (uintptr_t)stepped_start || pc > (uintptr_t)stepped_end;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    uint64_t result;

    sigaction(SIGTRAP, &action, NULL);
    result = stepped(13);
    printf("%lu, %d traps, %d outside\n", (unsigned long)result, traps, outside);
    return outside != 0;
}

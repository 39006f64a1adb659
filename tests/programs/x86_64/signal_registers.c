/* SPDX-License-Identifier: MIT */
/* A handler changes general, vector and flag registers; the program goes on with those. */
#define _GNU_SOURCE

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

struct result {
    uint64_t general[8];
    double vector[2];
    uint64_t carry, vector_before;
};

void trapped(struct result *result);

__asm__(".text\n"
        ".globl trapped\n"
        "trapped:\n"
        "    push %r12\n"
        "    push %r15\n"
        "    mov $11, %r8d\n"
        "    mov $12, %r11d\n"
        "    mov $13, %ecx\n"
        "    mov $14, %r12d\n"
        "    mov $15, %r15d\n"
        "    mov $0x4045000000000000, %rax\n"
        "    movq %rax, %xmm3\n"
        "    clc\n"
        "    int3\n"
        "    mov %r8, 0(%rdi)\n"
        "    mov %r11, 8(%rdi)\n"
        "    mov %rcx, 16(%rdi)\n"
        "    mov %r12, 24(%rdi)\n"
        "    mov %r15, 32(%rdi)\n"
        "    mov %rax, 40(%rdi)\n"
        "    movsd %xmm3, 64(%rdi)\n"
        "    movsd %xmm9, 72(%rdi)\n"
        "    mov $0, %eax\n"
        "    setc %al\n"
        "    mov %rax, 80(%rdi)\n"
        "    pop %r15\n"
        "    pop %r12\n"
        "    ret\n");

static volatile int strange;

static void on_trap(int number, siginfo_t *info, void *given)
{
    ucontext_t *context = given;
    greg_t *registers = context->uc_mcontext.gregs;
    double value;

    (void)info;
    strange += number != SIGTRAP || registers[REG_R8] != 11 || registers[REG_R11] != 12 || registers[REG_RCX] != 13;
    strange += registers[REG_R12] != 14 || registers[REG_R15] != 15 || registers[REG_EFL] & 1;
    memcpy(&value, &context->uc_mcontext.fpregs->_xmm[3], sizeof(value));
    strange += value != 42;
    value = value / 4;
    memcpy(&context->uc_mcontext.fpregs->_xmm[3], &value, sizeof(value));
    value = -1.25;
    memcpy(&context->uc_mcontext.fpregs->_xmm[9], &value, sizeof(value));
    registers[REG_R8] = 111;
    registers[REG_R11] = 112;
    registers[REG_RCX] = 113;
    registers[REG_R12] = 114;
    registers[REG_R15] = 115;
    registers[REG_RAX] = 116;
    registers[REG_EFL] |= 1;
    /* What the handler itself has in them is its own. */
    __asm__ volatile("mov $-1, %%r8\n mov $-1, %%r11\n pxor %%xmm3, %%xmm3\n pxor %%xmm9, %%xmm9\n" ::
                         : "r8", "r11", "xmm3", "xmm9");
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    struct result result = {0};

    sigaction(SIGTRAP, &action, NULL);
    for (int i = 0; i < 30; i++) {
        memset(&result, 0, sizeof(result));
        trapped(&result);
        for (int j = 0; j < 6; j++)
            strange += result.general[j] != 111 + (unsigned)j;
        strange += result.vector[0] != 10.5 || result.vector[1] != -1.25 || result.carry != 1;
    }
    for (int j = 0; j < 6; j++)
        printf("%lu ", (unsigned long)result.general[j]);
    printf("%g %g %lu, %d strange\n", result.vector[0], result.vector[1], (unsigned long)result.carry, strange);
    return strange != 0;
}

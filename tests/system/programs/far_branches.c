/* SPDX-License-Identifier: MIT */
/* Far returns within 64-bit code, iret, and a selector for gs: what few programs do, and some all the same. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>

uint64_t far_return(uint64_t value);
uint64_t interrupt_return(uint64_t value);

__asm__(".text\n"
        ".type far_return, @function\n"
        ".type interrupt_return, @function\n"
        "far_return:\n"
        "    mov %cs, %eax\n"
        "    push %rax\n"
        "    lea 1f(%rip), %rdx\n"
        "    push %rdx\n"
        "    lretq\n"
        "    ud2\n"
        "1:  lea 1(%rdi), %rax\n"
        "    ret\n"
        ".size far_return, . - far_return\n"
        "interrupt_return:\n"
        "    mov %rsp, %rcx\n"
        "    mov %ss, %eax\n"
        "    push %rax\n"
        "    push %rcx\n"
        "    pushfq\n"
        "    orl $1, (%rsp)\n"
        "    mov %cs, %eax\n"
        "    push %rax\n"
        "    lea 3f(%rip), %rdx\n"
        "    push %rdx\n"
        "    iretq\n"
        "    ud2\n"
        "3:  setc %al\n"
        "    movzbl %al, %eax\n"
        "    add %rdi, %rax\n"
        "    ret\n"
        ".size interrupt_return, . - interrupt_return\n");

int main(void)
{
    uint64_t sum = 0;
    unsigned selector = 7;

    for (uint64_t i = 0; i < 100; i++)
        sum += far_return(i) + interrupt_return(i * 3);
    __asm__ volatile("mov %%gs, %0" : "=r"(selector));
    __asm__ volatile("mov %0, %%gs" : : "r"(selector));
    printf("%lu, selector %x\n", (unsigned long)sum, selector);
    return 0;
}

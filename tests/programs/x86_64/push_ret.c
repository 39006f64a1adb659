/* SPDX-License-Identifier: MIT */
/* Returns used as jumps: to an address just pushed, and down a chain of addresses laid out before. */
#include <stdint.h>
#include <stdio.h>

uint64_t push_and_return(uint64_t value, uint64_t which);
uint64_t return_chain(uint64_t value);

__asm__(".text\n"
        "return_targets: .long push_double - return_targets, push_square - return_targets, push_negate - "
        "return_targets\n"
        ".globl push_and_return\n"
        "push_and_return:\n"
        "    mov %rdi, %rax\n"
        "    lea return_targets(%rip), %rcx\n"
        "    movslq (%rcx,%rsi,4), %rdx\n"
        "    add %rcx, %rdx\n"
        "    push %rdx\n"
        "    ret\n"
        "push_double:\n"
        "    add %rax, %rax\n"
        "    ret\n"
        "push_square:\n"
        "    imul %rax, %rax\n"
        "    ret\n"
        "push_negate:\n"
        "    neg %rax\n"
        "    ret\n"
        /* each function returns into the next */
        ".globl return_chain\n"
        "return_chain:\n"
        "    mov %rdi, %rax\n"
        "    lea push_double(%rip), %rcx\n"
        "    lea push_square(%rip), %rdx\n"
        "    lea push_negate(%rip), %rsi\n"
        "    push %rsi\n"
        "    push %rdx\n"
        "    push %rcx\n"
        "    push %rdx\n"
        "    push %rcx\n"
        "    ret\n");

int main(void)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < 999; i++)
        sum = sum * 3 + push_and_return(i, i % 3);
    for (uint64_t i = 0; i < 999; i++)
        sum = sum * 3 + return_chain(i);
    printf("%016lx\n", (unsigned long)sum);
    return 0;
}

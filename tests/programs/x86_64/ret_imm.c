/* SPDX-License-Identifier: MIT */
/* Returns that drop arguments from the stack, small and large amounts, nested. */
#include <stdint.h>
#include <stdio.h>

uint64_t callee_pops(uint64_t a, uint64_t b, int64_t *moved_out);

__asm__(".text\n"
        ".globl callee_pops\n"
        "callee_pops:\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    mov %rsp, %rbx\n"
        "    mov %rdx, %r12\n"
        "    push %rdi\n"
        "    push %rsi\n"
        "    call pop_two\n"
        "    push %rax\n"
        "    push %rdi\n"
        "    lea pop_two(%rip), %rcx\n"
        "    call *%rcx\n"
        "    sub $4096, %rsp\n"
        "    call pop_many\n"
        "    call pop_none\n"
        "    mov %rsp, %rcx\n"
        "    sub %rbx, %rcx\n"
        "    mov %rcx, (%r12)\n"
        "    mov %rbx, %rsp\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    ret\n"
        "pop_two:\n"
        "    mov 8(%rsp), %rax\n"
        "    imul $10, %rax, %rax\n"
        "    add 16(%rsp), %rax\n"
        "    ret $16\n"
        "pop_many:\n"
        "    push %rax\n"
        "    push $3\n"
        "    call pop_two\n"
        "    ret $4096\n"
        "pop_none:\n"
        "    add $1, %rax\n"
        "    ret $0\n");

int main(void)
{
    uint64_t sum = 0;
    int64_t moved = 1, moves = 0;

    for (uint64_t i = 0; i < 1000; i++) {
        sum = sum * 7 + callee_pops(i, i + 5, &moved);
        moves += moved;
    }
    printf("sum %016lx, stack moved by %ld\n", (unsigned long)sum, (long)moves);
    return moves != 0;
}

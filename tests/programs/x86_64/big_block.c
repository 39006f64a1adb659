/* SPDX-License-Identifier: MIT */
/* Thousands of instructions without a branch, of every length, some of them relative to rip. */
#include <stdint.h>
#include <stdio.h>

uint64_t big_block(uint64_t value);
uint64_t big_branches(uint64_t value);

__asm__(".data\n"
        "big_constant: .quad 0x123456789abcdef\n"
        ".text\n"
        ".globl big_block\n"
        "big_block:\n"
        "    mov %rdi, %rax\n"
        ".rept 3000\n"
        "    add $1, %rax\n"
        "    rol $7, %rax\n"
        "    xor big_constant(%rip), %rax\n"
        "    lea 3(%rax,%rax,4), %rax\n"
        "    nop\n"
        "    movabs $0x1122334455667788, %rcx\n"
        "    adc %rcx, %rax\n"
        ".endr\n"
        "    ret\n"
        /* and as many branches beside one another */
        ".globl big_branches\n"
        "big_branches:\n"
        "    mov %rdi, %rax\n"
        ".rept 4000\n"
        "    rol $3, %rax\n"
        "    test $1, %al\n"
        "    jz 1f\n"
        "    add $0x55, %rax\n"
        "1:\n"
        ".endr\n"
        "    ret\n");

int main(void)
{
    uint64_t value = 1, branched = 1;

    for (int i = 0; i < 20; i++) {
        value = big_block(value);
        branched = big_branches(branched);
    }
    printf("%016lx %016lx\n", (unsigned long)value, (unsigned long)branched);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Branches with prefixes that mean nothing: rep ret, bnd, branch hints, segment and useless rex prefixes. */
#include <stdint.h>
#include <stdio.h>

uint64_t prefixed(uint64_t value);

__asm__(".text\n"
        ".globl prefixed\n"
        "prefixed:\n"
        "    mov %rdi, %rax\n"
        "    lea rep_leaf(%rip), %rdx\n"
        "    call rep_leaf\n"
        "    .byte 0xf2\n" /* bnd call */
        "    call bnd_leaf\n"
        "    .byte 0xf2\n" /* bnd call *%rdx */
        "    call *%rdx\n"
        "    .byte 0x3e\n" /* notrack call *%rdx */
        "    call *%rdx\n"
        "    .byte 0x48\n" /* rex.w call *%rdx */
        "    call *%rdx\n"
        "    .byte 0x48\n"
        "    call rep_leaf\n"
        "    .byte 0x2e\n"
        "    call rep_leaf\n"
        "    test $1, %al\n"
        "    .byte 0x2e\n" /* not taken, probably */
        "    jz 1f\n"
        "    add $100, %rax\n"
        "1:  test $2, %al\n"
        "    .byte 0x3e\n" /* taken, probably */
        "    jnz 2f\n"
        "    add $1000, %rax\n"
        "2:  test $4, %al\n"
        "    .byte 0xf2\n" /* bnd jnz */
        "    jnz 3f\n"
        "    add $10000, %rax\n"
        "3:  .byte 0xf2\n" /* bnd jmp */
        "    jmp 4f\n"
        "    ud2\n"
        "4:  lea 5f(%rip), %rdx\n"
        "    .byte 0xf2\n"
        "    jmp *%rdx\n"
        "    ud2\n"
        "5:  lea 6f(%rip), %rdx\n"
        "    .byte 0x3e\n"
        "    jmp *%rdx\n"
        "    ud2\n"
        "6:  mov $2, %ecx\n"
        "7:  add $7, %rax\n"
        "    .byte 0x2e\n"
        "    loop 7b\n"
        "    .byte 0x48\n"
        "    ret\n"
        "rep_leaf:\n"
        "    imul $3, %rax, %rax\n"
        "    add $1, %rax\n"
        "    rep\n"
        "    ret\n"
        "bnd_leaf:\n"
        "    imul $5, %rax, %rax\n"
        "    .byte 0xf2\n"
        "    ret\n");

int main(void)
{
    for (uint64_t value = 0; value < 16; value++)
        printf("%lu: %lu\n", (unsigned long)value, (unsigned long)prefixed(value));
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* A call over a string, which the callee finds at its return address and skips. */
#include <stdint.h>
#include <stdio.h>

uint64_t hash_inline_strings(uint64_t seed);
const char *inline_string(void);

__asm__(".text\n"
        ".globl hash_inline_strings\n"
        "hash_inline_strings:\n"
        "    mov %rdi, %rax\n"
        "    call hash_string\n"
        "    .asciz \"\\006\\007 not code \\016\"\n"
        "    call hash_string\n"
        "    .asciz \"more of the same, and longer than before\"\n"
        "    ret\n"
        /* goes on behind the zero that ends the string at its return address */
        "hash_string:\n"
        "    pop %rsi\n"
        "1:  movzbl (%rsi), %ecx\n"
        "    inc %rsi\n"
        "    test %cl, %cl\n"
        "    jz 2f\n"
        "    imul $31, %rax, %rax\n"
        "    add %rcx, %rax\n"
        "    jmp 1b\n"
        "2:  jmp *%rsi\n"
        ".globl inline_string\n"
        "inline_string:\n"
        "    call 1f\n"
        "    .asciz \"found beside the code\"\n"
        "1:  pop %rax\n"
        "    ret\n");

int main(void)
{
    uint64_t hash = 1;

    for (int i = 0; i < 100; i++)
        hash = hash_inline_strings(hash);
    printf("%016lx\n%s\n", (unsigned long)hash, inline_string());
    return 0;
}

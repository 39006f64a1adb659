/* SPDX-License-Identifier: MIT */
/* Functions that change where they return to: past an instruction, to another place, or two callers up. */
#include <stdint.h>
#include <stdio.h>

uint64_t swapped_returns(uint64_t value);

__asm__(".text\n"
        ".globl swapped_returns\n"
        "swapped_returns:\n"
        "    mov %rdi, %rax\n"
        "    call skip_two\n"
        "    ud2\n"
        "    add $1, %rax\n"
        "    call elsewhere\n"
        "    ud2\n"
        "back_again:\n"
        "    call outer\n"
        "    add $4, %rax\n"
        "    test $1, %al\n"
        "    jz 1f\n"
        "    call skip_two\n"
        "    ud2\n"
        "1:  ret\n"
        "skip_two:\n"
        "    addq $2, (%rsp)\n"
        "    ret\n"
        "elsewhere:\n"
        "    lea back_again(%rip), %rcx\n"
        "    xchg %rcx, (%rsp)\n"
        "    add $2, %rax\n"
        "    ret\n"
        "outer:\n"
        "    call inner\n"
        "    ud2\n"
        "inner:\n"
        "    imul $3, %rax, %rax\n"
        "    add $8, %rsp\n"
        "    ret\n");

int main(void)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < 1000; i++)
        sum = sum * 5 + swapped_returns(i);
    printf("%016lx\n", (unsigned long)sum);
    return 0;
}

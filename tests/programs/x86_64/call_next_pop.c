/* SPDX-License-Identifier: MIT */
/* A call of the next instruction and a pop: what comes off the stack is the original address. */
#include <stdint.h>
#include <stdio.h>

const char *own_address(void);
extern const char expected_address[];
uint64_t unpaired_calls(uint64_t rounds);

__asm__(".text\n"
        ".globl own_address\n"
        ".globl expected_address\n"
        "own_address:\n"
        "    call 1f\n"
        "expected_address:\n"
        "1:  pop %rax\n"
        "    ret\n"
        /* calls that never return: the returns below do not pair with them */
        ".globl unpaired_calls\n"
        "unpaired_calls:\n"
        "    mov $0, %eax\n"
        "1:  call 2f\n"
        "2:  call 3f\n"
        "3:  pop %rcx\n"
        "    pop %rdx\n"
        "    sub %rdx, %rcx\n"
        "    add %rcx, %rax\n"
        "    dec %rdi\n"
        "    jnz 1b\n"
        "    ret\n");

int main(void)
{
    int wrong = 0;

    for (int i = 0; i < 1000; i++)
        wrong += own_address() != expected_address;
    printf("%d of 1000 addresses wrong, %lu bytes\n", wrong, (unsigned long)unpaired_calls(1000));
    return wrong != 0;
}

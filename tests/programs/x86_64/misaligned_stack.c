/* SPDX-License-Identifier: MIT */
/* Branches, calls and system calls with a stack pointer that is odd, or has unusual values just below it. */
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t with_offset(uint64_t offset, uint64_t rounds);

__asm__(".text\n"
        ".globl with_offset\n"
        "with_offset:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    mov %rsp, %rbp\n"
        "    sub %rdi, %rsp\n"
        "    mov $0, %ebx\n"
        "1:  call misaligned_leaf\n"
        "    lea misaligned_leaf(%rip), %rax\n"
        "    call *%rax\n"
        "    push %rsi\n"
        "    mov $186, %eax\n" /* gettid */
        "    syscall\n"
        "    pop %rsi\n"
        "    add %rax, %rbx\n"
        "    lea 2f(%rip), %rax\n"
        "    push %rax\n"
        "    ret\n"
        "2:  dec %rsi\n"
        "    jnz 1b\n"
        "    mov %rbx, %rax\n"
        "    mov %rbp, %rsp\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        "misaligned_leaf:\n"
        "    add $1, %rbx\n"
        "    ret\n");

int main(void)
{
    uint64_t tid = (uint64_t)syscall(SYS_gettid);

    for (uint64_t offset = 0; offset < 33; offset++)
        printf("%lu: %lu\n", (unsigned long)offset, (unsigned long)(with_offset(offset, 10) - tid * 10));
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* With alignment checks on, branches of all kinds and system calls fault no more than they do by themselves. */
#include <stdint.h>
#include <stdio.h>

uint64_t checked(uint64_t rounds);

__asm__(".data\n"
        ".p2align 3\n"
        "checked_address: .quad checked_leaf\n"
        ".text\n"
        ".globl checked\n"
        "checked:\n"
        "    push %rbx\n"
        "    mov $0, %ebx\n"
        "    lea checked_leaf(%rip), %r8\n"
        "    pushfq\n"
        "    orl $0x40000, (%rsp)\n"
        "    popfq\n"
        "1:  \n"
        ".rept 20\n"
        "    call checked_leaf\n"
        "    nop\n"
        "    call *%r8\n"
        "    lea 1(%rbx), %rbx\n"
        "    call *checked_address(%rip)\n"
        "    test $1, %bl\n"
        "    jz 2f\n"
        "    call checked_leaf\n"
        "2:  jmp 3f\n"
        "    ud2\n"
        "3:  lea 4f(%rip), %rdx\n"
        "    jmp *%rdx\n"
        "    ud2\n"
        "4:  \n"
        ".endr\n"
        "    mov $-1, %eax\n" /* no system call */
        "    syscall\n"
        "    dec %rdi\n"
        "    jnz 1b\n"
        "    pushfq\n"
        "    pop %rax\n"
        "    and $0x40000, %eax\n"
        "    add %rbx, %rax\n"
        "    push $0x202\n"
        "    popfq\n"
        "    pop %rbx\n"
        "    ret\n"
        "checked_leaf:\n"
        "    imul $3, %rbx, %rbx\n"
        "    ret\n");

int main(void)
{
    printf("%016lx\n", (unsigned long)checked(1));
    printf("%016lx\n", (unsigned long)checked(100));
    return 0;
}

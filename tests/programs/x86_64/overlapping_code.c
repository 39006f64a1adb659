/* SPDX-License-Identifier: MIT */
/* Instructions inside of others: jumps into the middle of one, and code that reads as two things at once. */
#include <stdint.h>
#include <stdio.h>

uint64_t overlapped(uint64_t which);
uint64_t across(uint64_t count);

__asm__(".text\n"
        "overlapped:\n"
        "    xor %eax, %eax\n"
        "    lea 1f(%rip), %rdx\n"
        "    add %rdi, %rdx\n"
        "    jmp *%rdx\n"
        /* mov $0x01c08348, %ebx (add $1, %rax inside); jmp 2f inside of a mov; */
        "1:  .byte 0xbb, 0x48, 0x83, 0xc0, 0x01\n"
        "    .byte 0x48, 0xb9, 0x48, 0x83, 0xc0, 0x10, 0xeb, 0x08, 0x90, 0x90\n"
        "    add $0x100, %rax\n"
        "2:  ret\n"
        /* Each time around the loop is entered one byte further on. */
        "across:\n"
        "    xor %eax, %eax\n"
        "    xor %ecx, %ecx\n"
        "3:  lea 4f(%rip), %rdx\n"
        "    mov %ecx, %esi\n"
        "    and $7, %esi\n"
        "    add %rsi, %rdx\n"
        "    jmp *%rdx\n"
        "4:  .byte 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x90\n" /* one nop, or a shorter one */
        "    lea 1(%rax,%rsi), %rax\n"
        "    inc %ecx\n"
        "    cmp %edi, %ecx\n"
        "    jne 3b\n"
        "    ret\n");

int main(void)
{
    register uint64_t kept __asm__("rbx") = 5;

    __asm__ volatile("" : "+r"(kept));
    for (int round = 0; round < 50; round++)
        for (uint64_t i = 0; i < 2; i++) {
            uint64_t result;

            __asm__ volatile("call overlapped" : "=a"(result) : "D"(i) : "rbx", "rcx", "rdx", "memory", "cc");
            if (round == 49)
                printf("%lu: %lx\n", (unsigned long)i, (unsigned long)result);
            __asm__ volatile("call overlapped" : "=a"(result) : "D"(i * 6 + 1) : "rbx", "rcx", "rdx", "memory", "cc");
            if (round == 49)
                printf("%lu: %lx\n", (unsigned long)i * 6 + 1, (unsigned long)result);
        }
    printf("%lu\n", (unsigned long)across(1000));
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* The arithmetic flags, DF and ID live on across jumps, calls, indirect calls and returns. */
#include <stdint.h>
#include <stdio.h>

uint64_t flags_across(uint64_t flags, void (*callee)(void));
uint64_t add_long(uint64_t *sum, const uint64_t *addend, uint64_t words);
uint64_t lahf_across(uint64_t flags, void (*callee)(void));
void nothing(void);

__asm__(".text\n"
        ".globl nothing\n"
        "nothing:\n"
        "    ret\n"
        /* popf, then every kind of branch, then pushf */
        ".globl flags_across\n"
        "flags_across:\n"
        "    push %rbx\n"
        "    mov %rsi, %rbx\n"
        "    push %rdi\n"
        "    popfq\n"
        "    jmp 1f\n"
        "    ud2\n"
        "1:  call nothing\n"
        "    call *%rbx\n"
        "    lea 2f(%rip), %rax\n"
        "    jmp *%rax\n"
        "    ud2\n"
        "2:  lea 3f(%rip), %rax\n"
        "    push %rax\n"
        "    ret\n"
        "    ud2\n"
        "3:  jc 4f\n"
        "4:  jo 5f\n"
        "5:  pushfq\n"
        "    pop %rax\n"
        "    push $0x202\n"
        "    popfq\n"
        "    pop %rbx\n"
        "    ret\n"
        ".globl lahf_across\n"
        "lahf_across:\n"
        "    mov %rdi, %rax\n"
        "    shl $8, %rax\n"
        "    sahf\n"
        "    call *%rsi\n"
        "    mov $0, %eax\n"
        "    lahf\n"
        "    seto %al\n"
        "    movzwl %ax, %eax\n"
        "    ret\n"
        /* the carry goes through dec, jnz, a call and a return */
        ".globl add_long\n"
        "add_long:\n"
        "    mov %rdx, %rcx\n"
        "    clc\n"
        "1:  mov (%rsi), %rax\n"
        "    call add_word\n"
        "    lea 8(%rsi), %rsi\n"
        "    lea 8(%rdi), %rdi\n"
        "    dec %rcx\n"
        "    jnz 1b\n"
        "    mov $0, %eax\n"
        "    adc $0, %rax\n"
        "    ret\n"
        "add_word:\n"
        "    adc %rax, (%rdi)\n"
        "    ret\n");

static void print_flags(uint64_t given)
{
    uint64_t kept = flags_across(given, nothing);

    printf("%06lx becomes %06lx\n", (unsigned long)given, (unsigned long)kept);
}

int main(void)
{
    uint64_t sum[5] = {UINT64_MAX, UINT64_MAX, 7, UINT64_MAX, UINT64_MAX - 1};
    const uint64_t addend[5] = {1, 0, UINT64_MAX - 7, 0, 1};
    uint64_t carry;

    /* bit by bit: CF PF AF ZF SF DF OF, ID; then together */
    for (int bit = 0; bit < 22; bit++) {
        if ((0x200cd5 >> bit) & 1)
            print_flags(0x202 | 1u << bit);
    }
    print_flags(0x202);
    print_flags(0x202 | 0x200cd5);
    for (unsigned flags = 0; flags < 256; flags += 5)
        printf("%04lx ", (unsigned long)lahf_across(flags, nothing));
    carry = add_long(sum, addend, 5);
    printf("\nsum");
    for (int i = 4; i >= 0; i--)
        printf(" %016lx", (unsigned long)sum[i]);
    printf(" carry %lu\n", (unsigned long)carry);
    return 0;
}

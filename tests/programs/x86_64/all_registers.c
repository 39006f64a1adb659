/* SPDX-License-Identifier: MIT */
/* All sixteen general registers keep their values across each kind of branch. */
#include <stdint.h>
#include <stdio.h>

/* Loads the registers, goes one way, stores them; rsp is stored relative to what it was. */
void registers_across(const uint64_t *in, uint64_t *out, uint64_t way);

#define LOAD_ALL                                                                                                       \
    "    mov 8(%rdi), %rbx\n    mov 16(%rdi), %rcx\n    mov 24(%rdi), %rdx\n    mov 32(%rdi), %rsi\n"                  \
    "    mov 40(%rdi), %rbp\n    mov 48(%rdi), %r8\n    mov 56(%rdi), %r9\n    mov 64(%rdi), %r10\n"                   \
    "    mov 72(%rdi), %r11\n    mov 80(%rdi), %r12\n    mov 88(%rdi), %r13\n    mov 96(%rdi), %r14\n"                 \
    "    mov 104(%rdi), %r15\n    mov 0(%rdi), %rax\n    mov 112(%rdi), %rdi\n"

#define STORE_ALL                                                                                                      \
    "    xchg %rdi, (%rsp)\n"                                                                                          \
    "    mov %rax, 0(%rdi)\n    mov %rbx, 8(%rdi)\n    mov %rcx, 16(%rdi)\n    mov %rdx, 24(%rdi)\n"                   \
    "    mov %rsi, 32(%rdi)\n    mov %rbp, 40(%rdi)\n    mov %r8, 48(%rdi)\n    mov %r9, 56(%rdi)\n"                   \
    "    mov %r10, 64(%rdi)\n    mov %r11, 72(%rdi)\n    mov %r12, 80(%rdi)\n    mov %r13, 88(%rdi)\n"                 \
    "    mov %r14, 96(%rdi)\n    mov %r15, 104(%rdi)\n"                                                                \
    "    mov %rsp, %rax\n    sub saved_stack(%rip), %rax\n    mov %rax, 120(%rdi)\n"                                   \
    "    pop %rax\n    mov %rax, 112(%rdi)\n"

__asm__(".data\n"
        "saved_stack: .quad 0\n"
        "chosen_way: .quad 0\n"
        "address: .quad 0\n"
        "ways: .quad way_jump, way_call, way_call_memory, way_jump_memory, way_return, way_condition, way_deep\n"
        ".text\n"
        ".globl registers_across\n"
        "registers_across:\n"
        "    push %rbx\n    push %rbp\n    push %r12\n    push %r13\n    push %r14\n    push %r15\n"
        "    mov %rsp, saved_stack(%rip)\n"
        "    push %rsi\n"
        "    lea ways(%rip), %rax\n"
        "    mov (%rax,%rdx,8), %rax\n"
        "    mov %rax, chosen_way(%rip)\n"
        "    lea 9f(%rip), %rax\n"
        "    mov %rax, address(%rip)\n" LOAD_ALL "    jmp *chosen_way(%rip)\n"
        "way_jump:\n"
        "    jmp 9f\n"
        "way_call:\n"
        "    call leaf\n"
        "    jmp 9f\n"
        "way_call_memory:\n"
        "    push $0\n"
        "    movq $0, (%rsp)\n"
        "    call *leaf_pointer(%rip)\n"
        "    lea 8(%rsp), %rsp\n"
        "    jmp 9f\n"
        "way_jump_memory:\n"
        "    jmp *address(%rip)\n"
        "way_return:\n"
        "    push address(%rip)\n"
        "    ret\n"
        "way_condition:\n"
        "    jz 9f\n"
        "    jnz 9f\n"
        "way_deep:\n"
        "    call deep\n"
        "9:\n" STORE_ALL "    pop %r15\n    pop %r14\n    pop %r13\n    pop %r12\n    pop %rbp\n    pop %rbx\n"
        "    ret\n"
        "deep:\n"
        "    call 1f\n"
        "1:  call 2f\n"
        "2:  call leaf\n"
        "leaf:\n"
        "    ret\n"
        ".data\n"
        "leaf_pointer: .quad leaf\n"
        ".text\n");

int main(void)
{
    uint64_t in[15];
    int wrong = 0;

    for (unsigned i = 0; i < 15; i++)
        in[i] = 0x1111111111111111u * (i + 1) ^ (uint64_t)i << 60;
    for (unsigned way = 0; way < 7; way++) {
        uint64_t out[16] = {0};

        for (unsigned round = 0; round < 100; round++)
            registers_across(in, out, way);
        for (unsigned i = 0; i < 15; i++)
            wrong += out[i] != in[i];
        wrong += out[15] != (uint64_t)-8;
        printf("way %u: %016lx %016lx %016lx, %d wrong\n", way, (unsigned long)out[0], (unsigned long)out[7],
               (unsigned long)out[14], wrong);
    }
    return wrong != 0;
}

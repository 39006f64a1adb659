/* SPDX-License-Identifier: MIT */
/* Calls and jumps through every shape of operand, with ordinary and extended registers. */
#include <stdint.h>
#include <stdio.h>

/* Does each of them once, with the table's function at [2]; each adds to the sum in rax. */
uint64_t call_all(void *const *table);
uint64_t jump_all(void *const *table);

/* One step of the sum: different for each place, so that a call left out or made twice shows. Jumps come back to 2. */
#define STEP(operands) "2:  imul $3, %rax, %rax\n" operands

#define SHAPES(branch)                                                                                                 \
    STEP("    mov 16(%rbx), %rcx\n" branch " *%rcx\n")                                                                 \
    STEP("    mov 16(%rbx), %r11\n" branch " *%r11\n")                                                                 \
    STEP("    mov 16(%rbx), %rbp\n" branch " *%rbp\n")                                                                 \
    STEP("    mov 16(%rbx), %r12\n" branch " *%r12\n")                                                                 \
    STEP("    mov 16(%rbx), %r13\n" branch " *%r13\n")                                                                 \
    STEP("    lea 16(%rbx), %rdx\n" branch " *(%rdx)\n")                                                               \
    STEP("    lea 16(%rbx), %r12\n" branch " *(%r12)\n")                                                               \
    STEP("    lea 16(%rbx), %r13\n" branch " *(%r13)\n")                                                               \
    STEP("    lea 16(%rbx), %rbp\n" branch " *0(%rbp)\n")                                                              \
    STEP(branch " *16(%rbx)\n")                                                                                        \
    STEP("    mov %rbx, %r14\n" branch " *16(%r14)\n")                                                                 \
    STEP("    lea -0x12340(%rbx), %rsi\n" branch " *0x12350(%rsi)\n")                                                  \
    STEP("    lea 0x12340(%rbx), %r9\n" branch " *-0x12330(%r9)\n")                                                    \
    STEP("    mov $2, %ecx\n" branch " *(%rbx,%rcx,8)\n")                                                              \
    STEP("    mov $4, %r10d\n" branch " *(%rbx,%r10,4)\n")                                                             \
    STEP("    mov $8, %r15d\n    mov %rbx, %r12\n" branch " *(%r12,%r15,2)\n")                                         \
    STEP("    mov $8, %r15d\n    mov %rbx, %r13\n" branch " *8(%r13,%r15)\n")                                          \
    STEP("    mov $1, %edi\n" branch " *8(%rbx,%rdi,8)\n")                                                             \
    STEP("    mov %rbx, %rdi\n    shr $3, %rdi\n" branch " *16(,%rdi,8)\n")                                            \
    STEP("    mov $-1, %rdi\n" branch " *24(%rbx,%rdi,8)\n")                                                           \
    STEP(branch " *leaf_address(%rip)\n")

#define SAVE    "    push %rbx\n    push %rbp\n    push %r12\n    push %r13\n    push %r14\n    push %r15\n"
#define RESTORE "    pop %r15\n    pop %r14\n    pop %r13\n    pop %r12\n    pop %rbp\n    pop %rbx\n"

__asm__(
    ".text\n"
    "indirect_leaf:\n"
    "    add $1, %rax\n"
    "    ret\n"
    ".data\n"
    "leaf_address: .quad indirect_leaf\n"
    ".text\n"
    ".globl call_all\n"
    "call_all:\n" SAVE "    mov %rdi, %rbx\n"
    "    mov $0, %eax\n" SHAPES("    call")
    /* through the stack: the operand is read before the return address is pushed */
    "    push 16(%rbx)\n" STEP("    call *(%rsp)\n")
        STEP("    call *0(%rsp)\n") "    push $7\n" STEP("    call *8(%rsp)\n") "    mov $1, %ecx\n" STEP(
            "    call *(%rsp,%rcx,8)\n") "    mov %rsp, %rcx\n" STEP("    call *8(%rcx)\n") "    add $16, "
                                                                                            "%rsp\n" RESTORE "    ret\n"
                                                                                            /* the same as jumps, out of
                                                                                               a subroutine for each */
                                                                                            ".globl jump_all\n"
                                                                                            "jump_all:\n" SAVE
                                                                                            "    mov %rdi, %rbx\n"
                                                                                            "    mov $0, %eax\n" SHAPES(
                                                                                                "    call 1f\n    jmp "
                                                                                                "2f\n1:  jmp") "2:"
                                                                                                               "\n" RESTORE
                                                                                                               "    "
                                                                                                               "ret\n");

int main(void)
{
    void *table[6] = {0};
    uint64_t calls = 0, jumps = 0;

    __asm__("lea indirect_leaf(%%rip), %0" : "=r"(table[2]));
    for (unsigned i = 0; i < 1000; i++) {
        calls = calls * 5 + call_all(table);
        jumps = jumps * 5 + jump_all(table);
    }
    printf("%016lx %016lx\n", (unsigned long)calls, (unsigned long)jumps);
    return 0;
}

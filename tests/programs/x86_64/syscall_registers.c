/* SPDX-License-Identifier: MIT */
/* After a system call rcx is the next address and r11 the flags; all other registers are as they were. */
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

struct after {
    uint64_t rax, rcx, r11, others_changed;
};

/* A system call without arguments that matter, with the flags given. */
void system_call(uint64_t number, uint64_t flags, struct after *after);
extern const char behind_system_call[];

#define OTHERS "rbx, rbp, rdi, rsi, r8, r9, r10, r12, r13, r14"

__asm__(".text\n"
        ".globl system_call\n.globl behind_system_call\n"
        "system_call:\n"
        "    push %rbx\n    push %rbp\n    push %r12\n    push %r13\n    push %r14\n    push %r15\n"
        "    mov %rdx, %r15\n"
        "    mov %rdi, %rax\n"
        "    push %rsi\n"
        ".irp register, " OTHERS "\n"
        "    mov $0x1234, %\\register\n"
        ".endr\n"
        "    mov $0, %edx\n"
        "    mov $0x5555, %ecx\n"
        "    mov $0x6666, %r11d\n"
        "    popfq\n"
        "    syscall\n"
        "behind_system_call:\n"
        "    mov %rax, 0(%r15)\n"
        "    mov %rcx, 8(%r15)\n"
        "    mov %r11, 16(%r15)\n"
        "    mov %rdx, %rax\n"
        ".irp register, " OTHERS "\n"
        "    cmp $0x1234, %\\register\n"
        "    setne %cl\n"
        "    movzbl %cl, %ecx\n"
        "    add %rcx, %rax\n"
        ".endr\n"
        "    mov %rax, 24(%r15)\n"
        "    push $0x202\n"
        "    popfq\n"
        "    pop %r15\n    pop %r14\n    pop %r13\n    pop %r12\n    pop %rbp\n    pop %rbx\n"
        "    ret\n");

static int check(uint64_t number, uint64_t result)
{
    int wrong = 0;

    for (unsigned i = 0; i < 200; i++) {
        uint64_t flags = 0x202 | (i & 1 ? 0x8d5 : 0) | (i & 2 ? 0x400 : 0);
        struct after after;

        system_call(number, flags, &after);
        wrong += after.rax != result;
        wrong += after.rcx != (uint64_t)(uintptr_t)behind_system_call;
        wrong += after.r11 != flags;
        wrong += (int)after.others_changed;
    }
    return wrong;
}

int main(void)
{
    int process = check(SYS_getpid, (uint64_t)getpid()), unknown = check(5000, (uint64_t)-38),
        descriptor = check(SYS_close, (uint64_t)-9);

    printf("wrong: %d %d %d\n", process, unknown, descriptor);
    return process + unknown + descriptor != 0;
}

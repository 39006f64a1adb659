/* SPDX-License-Identifier: MIT */
/* The code, in assembly, and its values. */
#include "support/known_registers.h"

#include "gait/x86_64.h"

#if defined(__x86_64__)

__asm__(".text\n"
        "known_registers_set:\n"
        "    mov $0x1111, %ebx; mov $0x2222, %ebp; mov $0x8888, %r8d; mov $0x9999, %r9d; mov $0xaaaa, %r10d\n"
        "    mov $0xbbbb, %r11d; mov $0xcccc, %r12d; mov $0xdddd, %r13d; mov $0xeeee, %r14d; mov $0xffff, %r15d\n"
        "    ret\n"
        "known_registers_spin:\n"
        "    push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
        "    call known_registers_set\n"
        "    jmp known_registers_start\n"
        ".globl known_registers_start, known_registers_end, known_registers_spin, known_registers_wait\n"
        "known_registers_start:\n"
        "1:  incq (%rsi); mov $20, %ecx\n"
        "2:  dec %ecx; jnz 2b\n"
        "    lea 4f(%rip), %rax; jmp *%rax\n"
        "3:  cmpb $0, (%rdi); je 1b\n"
        "    jmp 5f\n"
        "4:  call known_registers_leaf; jmp 3b\n"
        "known_registers_leaf: lea 1(%rcx), %rdx; ret\n"
        "known_registers_sleep: mov %r10, %r10; syscall; mov $0xbbbb, %r11d; cmpl $0, (%rdi); je 6f\n"
        "    jmp 5f\n"
        "6:  mov $202, %eax; xor %esi, %esi; xor %edx, %edx; jmp known_registers_sleep\n"
        "known_registers_end:\n"
        "5:  pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx; ret\n"
        "known_registers_wait:\n"
        "    push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
        "    call known_registers_set; xor %r10d, %r10d\n"
        "    jmp 6b\n");

#endif

bool known_registers_hold(const struct gait_cpu_context *cpu)
{
    /* A call in the kernel has its own idea of r11, and its fourth argument, none, in r10. */
    bool is_waiting = gait_x86_64_r10(cpu) == 0;

    return cpu->pc >= (uintptr_t)known_registers_start && cpu->pc < (uintptr_t)known_registers_end &&
           gait_x86_64_rbx(cpu) == 0x1111 && gait_x86_64_rbp(cpu) == 0x2222 && gait_x86_64_r8(cpu) == 0x8888 &&
           gait_x86_64_r9(cpu) == 0x9999 &&
           (is_waiting || (gait_x86_64_r10(cpu) == 0xaaaa && gait_x86_64_r11(cpu) == 0xbbbb)) &&
           gait_x86_64_r12(cpu) == 0xcccc && gait_x86_64_r13(cpu) == 0xdddd && gait_x86_64_r14(cpu) == 0xeeee &&
           gait_x86_64_r15(cpu) == 0xffff;
}

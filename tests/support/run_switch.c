/* SPDX-License-Identifier: MIT */
/*
 * The kernel loads the whole machine state in rt_sigreturn, and stores it in a signal frame, so no instruction of ours
 * has to run with the registers of the code under test. What it does not do for us: AC, NT and ID stay as they were in
 * a handler, NT and ID are not loaded from a frame, and the bases stay what WRFSBASE made of them, although libc cannot
 * be called without the host's.
 *
 * The C handler returns in the ordinary way and the jump is made here, so sanitizers see matching entries and exits.
 * The jump needs no change of the signal mask, because the handlers are installed to leave it alone, and none of the
 * alternate stack, because the kernel judges by the stack pointer alone whether it is in use.
 */
#define _GNU_SOURCE
#include "support/run_switch.h"

#if defined(__x86_64__)

#include <assert.h>
#include <stddef.h>
#include <ucontext.h>

#include "arch/x86_64/isa/registers.h"

static_assert(offsetof(struct run_switch, host_sp) == 0, "used in assembly");
static_assert(offsetof(struct run_switch, inside) == 8, "used in assembly");
static_assert(offsetof(struct run_switch, restores_bases) == 16, "used in assembly");
static_assert(offsetof(struct run_switch, host_fs_base) == 24, "used in assembly");
static_assert(offsetof(struct run_switch, host_gs_base) == 32, "used in assembly");
static_assert(offsetof(struct run_switch, handler) == 40, "used in assembly");
static_assert(offsetof(ucontext_t, uc_mcontext.gregs) + REG_EFL * sizeof(greg_t) == 176, "used in assembly");
static_assert((X86_FLAG_NT | X86_FLAG_ID) == 0x204000, "used in assembly");

struct run_switch run_switch;

__asm__(".pushsection .text\n"
        ".globl run_switch_enter, run_switch_enter_end, run_switch_signal, run_switch_restorer\n"
        ".hidden run_switch_enter, run_switch_enter_end, run_switch_signal, run_switch_restorer\n"
        ".type run_switch_enter, @function\n"
        "run_switch_enter:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    sub $8, %rsp\n"
        "    stmxcsr (%rsp)\n"
        "    fnstcw 4(%rsp)\n"
        "    mov %rsp, run_switch(%rip)\n"
        "    movq $1, run_switch+8(%rip)\n"
        "    mov %rdi, %rsp\n"
        "    push %rsi\n"
        "    popfq\n"
        "    mov $15, %eax\n" /* rt_sigreturn */
        "    syscall\n"
        "    ud2\n"
        "run_switch_enter_end:\n"
        ".size run_switch_enter, . - run_switch_enter\n"

        ".type run_switch_signal, @function\n"
        "run_switch_signal:\n"
        "    pushq $0x202\n"
        "    popfq\n"
        "    sub $40, %rsp\n" /* fs base, gs base, whether they are to be put back, context */
        "    mov %rdx, 24(%rsp)\n"
        "    movq $0, (%rsp)\n"
        "    movq $0, 8(%rsp)\n"
        "    mov run_switch+8(%rip), %rax\n"
        "    and run_switch+16(%rip), %rax\n"
        "    mov %rax, 16(%rsp)\n"
        "    jz 1f\n"
        "    rdfsbase %rax\n"
        "    mov %rax, (%rsp)\n"
        "    rdgsbase %rax\n"
        "    mov %rax, 8(%rsp)\n"
        "    mov run_switch+24(%rip), %rax\n"
        "    wrfsbase %rax\n"
        "    mov run_switch+32(%rip), %rax\n"
        "    wrgsbase %rax\n"
        "1:  mov %rsp, %rcx\n"
        "    call *run_switch+40(%rip)\n"
        "    test %al, %al\n"
        "    jnz 3f\n"
        "    cmpq $0, 16(%rsp)\n"
        "    je 2f\n"
        "    mov (%rsp), %rax\n"
        "    wrfsbase %rax\n"
        "    mov 8(%rsp), %rax\n"
        "    wrgsbase %rax\n"
        /* NT and ID are not loaded from the frame; they must be there before. */
        "2:  mov 24(%rsp), %rax\n"
        "    mov 176(%rax), %eax\n"
        "    and $0x204000, %eax\n"
        "    or $0x202, %eax\n"
        "    add $40, %rsp\n"
        "    push %rax\n"
        "    popfq\n"
        "    ret\n"
        /* inside is cleared while we are still on the alternate stack: a tick that comes now must not take us for the
           code under test. */
        "3:  movq $0, run_switch+8(%rip)\n"
        "    mov run_switch(%rip), %rsp\n"
        "    ldmxcsr (%rsp)\n"
        "    fldcw 4(%rsp)\n"
        "    add $8, %rsp\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        ".size run_switch_signal, . - run_switch_signal\n"

        ".type run_switch_restorer, @function\n"
        "run_switch_restorer:\n"
        "    mov $15, %eax\n"
        "    syscall\n"
        "    ud2\n"
        ".size run_switch_restorer, . - run_switch_restorer\n"
        ".popsection\n");

#endif

/* SPDX-License-Identifier: MIT */
/*
 * thread_landing_routine: rbx = struct thread_landing, rsp in the program's stack. Entered by changing a thread's
 * registers, left by iretq, which sets pc, flags and sp at once. All that is needed after `done` is on the program's
 * stack by then.
 */
#include "arch/x86_64/host/own_call.inc"

#include <asm/unistd.h>

#define R15             0
#define R14             8
#define R13             16
#define R12             24
#define RBP             32
#define RBX             40
#define R11             48
#define R10             56
#define R9              64
#define R8              72
#define RAX             80
#define RCX             88
#define RDX             96
#define RSI             104
#define RDI             112
#define RIP             128
#define CS              136
#define EFLAGS          144
#define RSP             152
#define SS              160
#define FUNCTION        272
#define CONTEXT         280
#define STACK_END       288
#define VECTOR_STATE    296
#define SIGNAL_MASK     304
#define VECTOR_FORMAT   312
#define DONE            316
#define IS_HELD         320

#define RED_ZONE        128
#define SIG_SETMASK     2
#define FUTEX_WAKE      1
#define DEFAULT_MXCSR   0x1f80

        .text
        .globl  thread_landing_routine
        .hidden thread_landing_routine
        .type   thread_landing_routine, @function
thread_landing_routine:
        .cfi_startproc
        .cfi_undefined rip
        cmpl    $0, IS_HELD(%rbx)
        jne     5f
        pushq   $-1                     /* all signals */
        movl    $SIG_SETMASK, %edi
        movq    %rsp, %rsi
        leaq    SIGNAL_MASK(%rbx), %rdx
        movl    $8, %r10d
        movl    $__NR_rt_sigprocmask, %eax
        OWN_CALL landing
5:      movq    STACK_END(%rbx), %rsp

        movq    VECTOR_STATE(%rbx), %rdi
        movl    $-1, %eax
        movl    $-1, %edx
        cmpl    $0, VECTOR_FORMAT(%rbx)
        je      1f
        xsave64 (%rdi)
        jmp     2f
1:      fxsave64 (%rdi)
2:      fninit
        pushq   $DEFAULT_MXCSR
        ldmxcsr (%rsp)
        popq    %rax

        xorl    %ebp, %ebp
        movq    CONTEXT(%rbx), %rdi
        movq    %rbx, %rsi
        call    *FUNCTION(%rbx)

        movq    VECTOR_STATE(%rbx), %rdi
        movl    $-1, %eax
        movl    $-1, %edx
        cmpl    $0, VECTOR_FORMAT(%rbx)
        je      3f
        xrstor64 (%rdi)
        jmp     4f
3:      fxrstor64 (%rdi)

4:      movq    RSP(%rbx), %rax
        leaq    -RED_ZONE(%rax), %rsp
        pushq   SS(%rbx)
        pushq   RSP(%rbx)
        pushq   EFLAGS(%rbx)
        pushq   CS(%rbx)
        pushq   RIP(%rbx)
        pushq   RAX(%rbx)
        pushq   RBX(%rbx)
        pushq   RCX(%rbx)
        pushq   RDX(%rbx)
        pushq   RSI(%rbx)
        pushq   RDI(%rbx)
        pushq   RBP(%rbx)
        pushq   R8(%rbx)
        pushq   R9(%rbx)
        pushq   R10(%rbx)
        pushq   R11(%rbx)
        pushq   R12(%rbx)
        pushq   R13(%rbx)
        pushq   R14(%rbx)
        pushq   R15(%rbx)
        pushq   SIGNAL_MASK(%rbx)

        movl    $1, DONE(%rbx)
        leaq    DONE(%rbx), %rdi
        movl    $FUTEX_WAKE, %esi
        movl    $0x7fffffff, %edx
        movl    $__NR_futex, %eax
        OWN_CALL landing_wake

        movl    $SIG_SETMASK, %edi
        movq    %rsp, %rsi
        xorl    %edx, %edx
        movl    $8, %r10d
        movl    $__NR_rt_sigprocmask, %eax
        OWN_CALL landing_end
        popq    %rax
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %r11
        popq    %r10
        popq    %r9
        popq    %r8
        popq    %rbp
        popq    %rdi
        popq    %rsi
        popq    %rdx
        popq    %rcx
        popq    %rbx
        popq    %rax
        iretq
        .cfi_endproc
        .size   thread_landing_routine, . - thread_landing_routine
/* thread_landing_leave(landing): what the routine ends with, without having begun. Signals are held back. */
        .globl  thread_landing_leave
        .hidden thread_landing_leave
        .type   thread_landing_leave, @function
thread_landing_leave:
        movq    %rdi, %rbx
        jmp     4b
        .globl  thread_landing_routine_end
        .hidden thread_landing_routine_end
thread_landing_routine_end:
        .section .note.GNU-stack, "", @progbits

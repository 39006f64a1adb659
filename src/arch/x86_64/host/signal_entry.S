/* SPDX-License-Identifier: MIT */
/*
 * Where signals come in. struct signal_outcome is on the stack: sp, target, signal, info, ucontext; behind it are the
 * flags, which the kernel leaves as they were but for few, and which a native handler gets. The program's
 * handler may call stalker_signal_entry as well, if it found it as the handler before.
 */
#include "arch/x86_64/host/own_call.inc"

#include <asm/unistd.h>

        .text
        .macro FUNCTION name
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 4
\name:
        .endm

FUNCTION stalker_signal_entry
        movq    %rsp, %rax
        subq    $128, %rsp
        andq    $-16, %rsp
        movq    %rax, (%rsp)
        movq    $0, 8(%rsp)
        movslq  %edi, %rdi
        movq    %rdi, 16(%rsp)
        movq    %rsi, 24(%rsp)
        movq    %rdx, 32(%rsp)
        pushfq
        popq    40(%rsp)
        /* No alignment checks in the engine. */
        pushq   $2
        popfq
        movq    %rsp, %rdi
        call    stalker_signal_arrived
        pushq   40(%rsp)
        popfq
        movq    8(%rsp), %r11
        movq    16(%rsp), %rdi
        movq    24(%rsp), %rsi
        movq    32(%rsp), %rdx
        movq    (%rsp), %rsp
        testq   %r11, %r11
        jz      1f
        xorl    %eax, %eax
        jmpq    *%r11
/* The kernel finds the frame 8 bytes below the stack pointer. */
1:      addq    $8, %rsp
        movl    $__NR_rt_sigreturn, %eax
        OWN_CALL signal_end
        ud2

FUNCTION stalker_signal_restorer
        movl    $__NR_rt_sigreturn, %eax
        OWN_CALL signal_restorer
        ud2

/*
 * stalker_signal_return(ucontext, flags, place): what the kernel does not take from the frame stays as it is in the
 * flags.
 */
FUNCTION stalker_signal_return
        testq   %rdx, %rdx
        jnz     1f
        pushq   %rsi
        popfq
        movq    %rdi, %rsp
        movl    $__NR_rt_sigreturn, %eax
        OWN_CALL signal_return
        ud2
1:      pushq   %rsi
        popfq
        movq    %rdi, %rsp
        movl    $__NR_rt_sigreturn, %eax
        jmpq    *%rdx

        .section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: MIT */
/*
 * clone_start(flags, stack_end, ended, run, context): run and context travel on the new stack, which is all that the
 * two processes' registers do not share after the system call.
 */
#include "arch/x86_64/host/own_call.inc"

#include <asm/unistd.h>

        .text
        .globl  clone_start
        .hidden clone_start
        .type   clone_start, @function
clone_start:
        .cfi_startproc
        endbr64
        andq    $-16, %rsi
        subq    $16, %rsi
        movq    %rcx, 0(%rsi)
        movq    %r8, 8(%rsi)
        movq    %rdx, %r10              /* child_tid */
        xorl    %edx, %edx              /* parent_tid */
        xorl    %r8d, %r8d              /* tls */
        movl    $__NR_clone, %eax
        OWN_CALL clone
        testq   %rax, %rax
        jz      1f
        ret
1:      .cfi_undefined rip
        xorl    %ebp, %ebp
        popq    %rax
        popq    %rdi
        call    *%rax
        xorl    %edi, %edi
        movl    $__NR_exit, %eax
        OWN_CALL clone_end
        ud2
        .cfi_endproc
        .size   clone_start, . - clone_start
        .section .note.GNU-stack, "", @progbits

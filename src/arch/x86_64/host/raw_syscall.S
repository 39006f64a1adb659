/* SPDX-License-Identifier: MIT */
/* raw_syscall(number, a, b, c, d, e, f): the seventh argument is on the stack, above the return address. */
        .text
        .globl  raw_syscall
        .hidden raw_syscall
        .type   raw_syscall, @function
raw_syscall:
        .cfi_startproc
        endbr64
        movq    %rdi, %rax
        movq    %rsi, %rdi
        movq    %rdx, %rsi
        movq    %rcx, %rdx
        movq    %r8, %r10
        movq    %r9, %r8
        movq    8(%rsp), %r9
        syscall
        ret
        .cfi_endproc
        .size   raw_syscall, . - raw_syscall
        .section .note.GNU-stack, "", @progbits

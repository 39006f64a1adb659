/* SPDX-License-Identifier: MIT */
/* raw_syscall(number, a, b, c, d, e, f): the seventh argument is on the stack, above the return address. */
#include "arch/x86_64/host/own_call.inc"

        .text
        .macro ARGUMENTS
        endbr64
        movq    %rdi, %rax
        movq    %rsi, %rdi
        movq    %rdx, %rsi
        movq    %rcx, %rdx
        movq    %r8, %r10
        movq    %r9, %r8
        movq    8(%rsp), %r9
        .endm

        .globl  raw_syscall
        .hidden raw_syscall
        .type   raw_syscall, @function
raw_syscall:
        .cfi_startproc
        ARGUMENTS
        OWN_CALL raw
        ret
        .cfi_endproc
        .size   raw_syscall, . - raw_syscall

        .globl  raw_syscall_for_program
        .hidden raw_syscall_for_program
        .type   raw_syscall_for_program, @function
raw_syscall_for_program:
        .cfi_startproc
        ARGUMENTS
        syscall
        .globl  raw_syscall_for_program_end
        .hidden raw_syscall_for_program_end
raw_syscall_for_program_end:
        ret
        .cfi_endproc
        .size   raw_syscall_for_program, . - raw_syscall_for_program
        .section .note.GNU-stack, "", @progbits

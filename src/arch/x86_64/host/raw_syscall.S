/* SPDX-License-Identifier: MIT */
/* raw_syscall(number, a, b, c, d, e, f): the seventh argument is on the stack, above the return address. */
#include "arch/x86_64/host/own_call.inc"

#include <asm/unistd.h>

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
        OWN_CALL_ANYWHERE raw
        ret
        .cfi_endproc
        .size   raw_syscall, . - raw_syscall

        .globl  raw_syscall_for_program
        .hidden raw_syscall_for_program
        .type   raw_syscall_for_program, @function
raw_syscall_for_program:
        .cfi_startproc
        ARGUMENTS
        cmpq    $0, own_call_place(%rip)
        jne     1f
        syscall
        .globl  raw_syscall_for_program_end
        .hidden raw_syscall_for_program_end
raw_syscall_for_program_end:
        ret
1:      jmpq    *own_call_place(%rip)
        .cfi_endproc
        .size   raw_syscall_for_program, . - raw_syscall_for_program

        .globl  own_calls_return_from_signal
        .hidden own_calls_return_from_signal
        .type   own_calls_return_from_signal, @function
own_calls_return_from_signal:
        .cfi_startproc
        endbr64
        movq    %rdi, %rsp
        movl    $__NR_rt_sigreturn, %eax
        cmpq    $0, own_call_place(%rip)
        jne     1f
        syscall
1:      jmpq    *own_call_place(%rip)
        .cfi_endproc
        .size   own_calls_return_from_signal, . - own_calls_return_from_signal

        .bss
        .balign 8
        .globl  own_call_place
        .hidden own_call_place
        .type   own_call_place, @object
own_call_place:
        .quad   0
        .size   own_call_place, . - own_call_place
        .section .note.GNU-stack, "", @progbits

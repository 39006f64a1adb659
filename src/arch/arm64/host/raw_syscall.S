/* SPDX-License-Identifier: MIT */
/* raw_syscall(number, a, b, c, d, e, f): all seven arguments come in registers. */
        .text
        .macro ARGUMENTS
        mov     x8, x0
        mov     x0, x1
        mov     x1, x2
        mov     x2, x3
        mov     x3, x4
        mov     x4, x5
        mov     x5, x6
        .endm

        .globl  raw_syscall
        .hidden raw_syscall
        .type   raw_syscall, %function
raw_syscall:
        .cfi_startproc
        ARGUMENTS
        svc     #0
        .globl  own_call_raw
        .hidden own_call_raw
own_call_raw:
        ret
        .cfi_endproc
        .size   raw_syscall, . - raw_syscall

        .globl  raw_syscall_for_program
        .hidden raw_syscall_for_program
        .type   raw_syscall_for_program, %function
raw_syscall_for_program:
        .cfi_startproc
        ARGUMENTS
        svc     #0
        .globl  raw_syscall_for_program_end
        .hidden raw_syscall_for_program_end
raw_syscall_for_program_end:
        ret
        .cfi_endproc
        .size   raw_syscall_for_program, . - raw_syscall_for_program

        .globl  own_calls_return_from_signal
        .hidden own_calls_return_from_signal
        .type   own_calls_return_from_signal, %function
own_calls_return_from_signal:
        .cfi_startproc
        mov     sp, x0
        mov     x8, #139
        svc     #0
        brk     #0
        .cfi_endproc
        .size   own_calls_return_from_signal, . - own_calls_return_from_signal

        .section .note.GNU-stack, "", %progbits

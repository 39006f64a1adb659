/* SPDX-License-Identifier: MIT */
/* raw_syscall(number, a, b, c, d, e, f): all seven arguments come in registers. */
        .text
        .globl  raw_syscall
        .hidden raw_syscall
        .type   raw_syscall, %function
raw_syscall:
        .cfi_startproc
        mov     x8, x0
        mov     x0, x1
        mov     x1, x2
        mov     x2, x3
        mov     x3, x4
        mov     x4, x5
        mov     x5, x6
        svc     #0
        ret
        .cfi_endproc
        .size   raw_syscall, . - raw_syscall
        .section .note.GNU-stack, "", %progbits

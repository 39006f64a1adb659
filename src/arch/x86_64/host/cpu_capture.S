/* SPDX-License-Identifier: MIT */
/* stalker_capture(cpu): fills a struct gait_cpu_context with the registers as they are when this has returned. */
#include "arch/context_layout.h"

        .text
        .globl  stalker_capture
        .hidden stalker_capture
        .type   stalker_capture, @function
        .p2align 4
stalker_capture:
        movq    %rax, 0(%rdi)
        movq    %rcx, 8(%rdi)
        movq    %rdx, 16(%rdi)
        movq    %rbx, 24(%rdi)
        leaq    8(%rsp), %rax
        movq    %rax, 32(%rdi)
        movq    %rbp, 40(%rdi)
        movq    %rsi, 48(%rdi)
        movq    %rdi, 56(%rdi)
        movq    %r8, 64(%rdi)
        movq    %r9, 72(%rdi)
        movq    %r10, 80(%rdi)
        movq    %r11, 88(%rdi)
        movq    %r12, 96(%rdi)
        movq    %r13, 104(%rdi)
        movq    %r14, 112(%rdi)
        movq    %r15, 120(%rdi)
        movq    (%rsp), %rax
        movq    %rax, CONTEXT_PC(%rdi)
        pushfq
        popq    CONTEXT_FLAGS(%rdi)
        movq    0(%rdi), %rax
        ret

        .section .note.GNU-stack, "", @progbits

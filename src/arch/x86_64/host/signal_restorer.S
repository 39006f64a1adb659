/* SPDX-License-Identifier: MIT */
/*
 * Where a signal handler of ours returns to. Debuggers and unwinders know signal frames by these very bytes, and look at
 * the one before them.
 */
#include <asm/unistd.h>

        .text
        .globl  signal_restorer_routine
        .hidden signal_restorer_routine
        .type   signal_restorer_routine, @function
        .p2align 4
        nop
signal_restorer_routine:
        movq    $__NR_rt_sigreturn, %rax
        syscall
        .size   signal_restorer_routine, . - signal_restorer_routine
        .section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: MIT */
/* clone_start(flags, stack_end, ended, run, context): not until it can be tried. */
#include <asm/errno.h>

        .text
        .globl  clone_start
        .hidden clone_start
        .type   clone_start, %function
clone_start:
        .cfi_startproc
        mov     x0, #-EOPNOTSUPP
        ret
        .cfi_endproc
        .size   clone_start, . - clone_start
        .section .note.GNU-stack, "", %progbits

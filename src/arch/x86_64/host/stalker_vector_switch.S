/* SPDX-License-Identifier: MIT */
/* All of the vector and floating point state, to and from memory aligned to 64 whose header was zeroed. */
        .text
        .globl  stalker_vectors_save
        .hidden stalker_vectors_save
        .type   stalker_vectors_save, @function
stalker_vectors_save:
        movl    $-1, %eax
        movl    $-1, %edx
        xsave64 (%rdi)
        /* What the engine calls expects the states of a fresh call. */
        fninit
        movl    $0x1f80, -4(%rsp)
        ldmxcsr -4(%rsp)
        ret
        .size   stalker_vectors_save, . - stalker_vectors_save

        .globl  stalker_vectors_restore
        .hidden stalker_vectors_restore
        .type   stalker_vectors_restore, @function
stalker_vectors_restore:
        movl    $-1, %eax
        movl    $-1, %edx
        xrstor64 (%rdi)
        ret
        .size   stalker_vectors_restore, . - stalker_vectors_restore
        .section .note.GNU-stack, "", @progbits

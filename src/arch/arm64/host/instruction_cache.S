/* SPDX-License-Identifier: MIT */
/*
 * instruction_cache_flush(written, executable, size): cleans the data cache to the point of unification line by line
 * through the written view, then invalidates the instruction cache through the executable one. CTR_EL0 says how long
 * lines are, and whether the CPU does without the first (IDC, bit 28) or the second step (DIC, bit 29).
 */
        .text
        .globl  instruction_cache_flush
        .hidden instruction_cache_flush
        .type   instruction_cache_flush, %function
instruction_cache_flush:
        .cfi_startproc
        cbz     x2, 6f
        mrs     x3, ctr_el0
        mov     x4, #4
        tbnz    x3, #28, 2f             /* IDC */
        ubfx    x5, x3, #16, #4         /* DminLine: log2 of words */
        lsl     x5, x4, x5
        sub     x6, x5, #1
        add     x7, x0, x2
        bic     x0, x0, x6
1:      dc      cvau, x0
        add     x0, x0, x5
        cmp     x0, x7
        b.lo    1b
2:      dsb     ish
        tbnz    x3, #29, 5f             /* DIC */
        and     x5, x3, #15             /* IminLine: log2 of words */
        lsl     x5, x4, x5
        sub     x6, x5, #1
        add     x7, x1, x2
        bic     x1, x1, x6
4:      ic      ivau, x1
        add     x1, x1, x5
        cmp     x1, x7
        b.lo    4b
        dsb     ish
5:      isb
6:      ret
        .cfi_endproc
        .size   instruction_cache_flush, . - instruction_cache_flush
        .section .note.GNU-stack, "", %progbits

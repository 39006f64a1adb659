/* SPDX-License-Identifier: MIT */
/*
 * All of the vector and floating point state, to and from memory aligned to 64 that was zeroed at first.
 *
 * xsave and xrstor of all of it take some 200 ns where there is AVX-512; moves take a quarter of that. So where the state
 * is x87, SSE, AVX and AVX-512 it is moved, and xsave is left with x87, which is rarely in use, and with tiles, which
 * are used by hardly anybody. What was not in use is put back as not in use: else SSE code would be slow on some CPUs.
 * Tiles that were not in use are left to whoever used them since, who has to release them as after any call.
 */
#include "arch/x86_64/host/vector_area.h"

#define IN_USE_X87    0x01
#define IN_USE_AVX    0x04
#define IN_USE_AVX512 0xe0
#define IN_USE_TILES  0x60000

#define MXCSR_DEFAULT 0x1f80

        .text
        .macro FUNCTION name
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 4
\name:
        .endm


        .macro STORE_ZMM number
        vmovdqu64 %zmm\number, AREA_VECTORS + 64 * \number(%rdi)
        .endm
        .macro LOAD_ZMM number
        vmovdqu64 AREA_VECTORS + 64 * \number(%rdi), %zmm\number
        .endm
        .macro LOAD_YMM number
        vmovdqu AREA_VECTORS + 64 * \number(%rdi), %ymm\number
        .endm
        .macro LOAD_XMM number
        movups  AREA_VECTORS + 64 * \number(%rdi), %xmm\number
        .endm
        .macro CLEAR_ZMM number
        vpxord  %zmm\number, %zmm\number, %zmm\number
        .endm
        .macro STORE_MASK number
        kmovq   %k\number, AREA_MASKS + 8 * \number(%rdi)
        .endm
        .macro LOAD_MASK number
        kmovq   AREA_MASKS + 8 * \number(%rdi), %k\number
        .endm
        .macro CLEAR_MASK number
        kxorq   %k\number, %k\number, %k\number
        .endm

        .macro LOW operation
        .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        \operation \n
        .endr
        .endm
        .macro HIGH operation
        .irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        \operation \n
        .endr
        .endm
        .macro MASKS operation
        .irp n, 0, 1, 2, 3, 4, 5, 6, 7
        \operation \n
        .endr
        .endm

/* vector_state_save(area). Afterwards the state is what a function that is called may expect. */
FUNCTION vector_state_save
        cmpb    $0, AREA_KIND(%rdi)
        je      save_all
        movl    $1, %ecx
        xgetbv
        movl    %eax, AREA_IN_USE(%rdi)
        LOW     STORE_ZMM
        HIGH    STORE_ZMM
        MASKS   STORE_MASK
        stmxcsr AREA_MXCSR(%rdi)
        testl   $IN_USE_TILES, %eax
        jnz     save_tiles
tiles_saved:
        testb   $IN_USE_X87, %al
        jnz     save_x87
default_mxcsr:
        cmpl    $MXCSR_DEFAULT, AREA_MXCSR(%rdi)
        je      1f
        movl    $MXCSR_DEFAULT, -4(%rsp)
        ldmxcsr -4(%rsp)
1:      ret
save_x87:
        movl    $1, %eax
        xorl    %edx, %edx
        xsave64 (%rdi)
        fninit
        jmp     default_mxcsr
save_tiles:
        movl    $IN_USE_TILES, %eax
        xorl    %edx, %edx
        xsavec64 AREA_TILES(%rdi)
        movl    AREA_IN_USE(%rdi), %eax
        jmp     tiles_saved
save_all:
        movl    $-1, %eax
        movl    $-1, %edx
        xsave64 (%rdi)
        fninit
        movl    $MXCSR_DEFAULT, -4(%rsp)
        ldmxcsr -4(%rsp)
        ret
        .size   vector_state_save, . - vector_state_save

/* vector_state_restore(area) */
FUNCTION vector_state_restore
        cmpb    $0, AREA_KIND(%rdi)
        je      restore_all
        movl    AREA_IN_USE(%rdi), %esi
        testl   $IN_USE_TILES, %esi
        jnz     restore_tiles
tiles_restored:
        movl    %esi, %eax
        notl    %eax
        testb   $IN_USE_AVX512, %al
        jnz     ask_in_use
        /* All vectors are put back anyway, so only x87 is in question: xgetbv is slower than all of the moves. */
        fnstsw  %ax
        testw   %ax, %ax
        jz      in_use_known
        orl     $IN_USE_X87, %esi
in_use_known:
        testb   $IN_USE_X87, %sil
        jnz     restore_x87
restore_vectors:
        testb   $IN_USE_AVX512, AREA_IN_USE(%rdi)
        jnz     restore_avx512
        testb   $IN_USE_AVX512, %sil
        jnz     clear_avx512
restore_low:
        testb   $IN_USE_AVX, AREA_IN_USE(%rdi)
        jnz     restore_avx
        vzeroupper
        LOW     LOAD_XMM
restore_mxcsr:
        ldmxcsr AREA_MXCSR(%rdi)
        ret
ask_in_use:
        movl    $1, %ecx
        xgetbv
        orl     %eax, %esi
        jmp     in_use_known
restore_avx:
        LOW     LOAD_YMM
        jmp     restore_mxcsr
restore_avx512:
        LOW     LOAD_ZMM
        HIGH    LOAD_ZMM
        MASKS   LOAD_MASK
        jmp     restore_mxcsr
clear_avx512:
        HIGH    CLEAR_ZMM
        MASKS   CLEAR_MASK
        /* The upper halves of the others go with their loads. */
        jmp     restore_low
/* In use before: what was saved. Only in use since: the header says so, and gives the initial state. */
restore_x87:
        testb   $IN_USE_X87, AREA_IN_USE(%rdi)
        jnz     1f
        movq    $0, AREA_PRESENT(%rdi)
1:      movl    $1, %eax
        xorl    %edx, %edx
        xrstor64 (%rdi)
        jmp     restore_vectors
restore_tiles:
        movl    $IN_USE_TILES, %eax
        xorl    %edx, %edx
        xrstor64 AREA_TILES(%rdi)
        jmp     tiles_restored
restore_all:
        movl    $-1, %eax
        movl    $-1, %edx
        xrstor64 (%rdi)
        ret
        .size   vector_state_restore, . - vector_state_restore
        .section .note.GNU-stack, "", @progbits

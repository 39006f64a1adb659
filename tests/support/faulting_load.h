/* SPDX-License-Identifier: MIT */
/*
 * A function whose second instruction reads what it is given, and may fault. It is short: all of it is displaced when
 * it is hooked. Included by one file of a program.
 */
#ifndef GAIT_TESTS_SUPPORT_FAULTING_LOAD_H
#define GAIT_TESTS_SUPPORT_FAULTING_LOAD_H

#define FAULTING_LOAD_AT     2 /* where it reads */
#define FAULTING_LOAD_BEHIND 4

int load(const int *place);

__asm__("        .text\n"
        "        .p2align 4\n"
        "        .globl  load\n"
        "        .type   load, @function\n"
        "load:   xorl    %eax, %eax\n"
        "        addl    (%rdi), %eax\n"
        "        addl    $1, %eax\n"
        "        nop\n"
        "        ret\n"
        "        .size   load, . - load\n"
        "        .p2align 4\n");

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Which registers have which part in a call on the CPU that this is compiled for, by their numbers in struct
 * gait_cpu_context. The only public header that asks which CPU that is.
 */
#ifndef GAIT_CPU_NUMBERS_H
#define GAIT_CPU_NUMBERS_H

/* Of the CPU that has most: x0 to x30 and the stack pointer of arm64. */
#define GAIT_CPU_REGISTERS_MAX 32

/* In place of a number: the CPU has no such register. */
#define GAIT_CPU_NO_REGISTER 0xff

/*
 * GAIT_CPU_REGISTER_COUNT         how many there are, from number 0 on
 * GAIT_CPU_STACK_POINTER          the number of the stack pointer
 * GAIT_CPU_LINK_REGISTER          of the one in which a call leaves its return address
 * GAIT_CPU_RESULT                 of the one in which a function returns an integer or a pointer
 * GAIT_CPU_ARGUMENT_COUNT         how many arguments are in registers
 * GAIT_CPU_ARGUMENTS              the numbers of those
 * GAIT_CPU_ARGUMENT_STACK_WORDS   at the entry of a function: words between the stack pointer and the other arguments
 * GAIT_CPU_FLOAT_ARGUMENT_COUNT   how many floating-point arguments are in vector registers, from number 0 on
 */
#if defined(__x86_64__)

#define GAIT_CPU_REGISTER_COUNT       16
#define GAIT_CPU_STACK_POINTER        4
#define GAIT_CPU_LINK_REGISTER        GAIT_CPU_NO_REGISTER
#define GAIT_CPU_RESULT               0
#define GAIT_CPU_ARGUMENT_COUNT       6
#define GAIT_CPU_ARGUMENTS            7, 6, 2, 1, 8, 9 /* rdi, rsi, rdx, rcx, r8, r9 */
#define GAIT_CPU_ARGUMENT_STACK_WORDS 1
#define GAIT_CPU_FLOAT_ARGUMENT_COUNT 8

#elif defined(__aarch64__)

#define GAIT_CPU_REGISTER_COUNT       32
#define GAIT_CPU_STACK_POINTER        31
#define GAIT_CPU_LINK_REGISTER        30
#define GAIT_CPU_RESULT               0
#define GAIT_CPU_ARGUMENT_COUNT       8
#define GAIT_CPU_ARGUMENTS            0, 1, 2, 3, 4, 5, 6, 7
#define GAIT_CPU_ARGUMENT_STACK_WORDS 0
#define GAIT_CPU_FLOAT_ARGUMENT_COUNT 8

#else
#error "gait does not know the registers of this CPU"
#endif

#endif

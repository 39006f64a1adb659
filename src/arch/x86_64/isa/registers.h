/* SPDX-License-Identifier: MIT */
/*
 * The names and numbers of x86-64 registers, flags and conditions, as the instruction encoding counts them. Plain
 * values, usable anywhere.
 */
#ifndef GAIT_ARCH_X86_64_ISA_REGISTERS_H
#define GAIT_ARCH_X86_64_ISA_REGISTERS_H

#include <stdint.h>

enum x86_gpr {
    X86_RAX,
    X86_RCX,
    X86_RDX,
    X86_RBX,
    X86_RSP,
    X86_RBP,
    X86_RSI,
    X86_RDI,
    X86_R8,
    X86_R9,
    X86_R10,
    X86_R11,
    X86_R12,
    X86_R13,
    X86_R14,
    X86_R15,
    X86_GPR_COUNT,
    X86_GPR_NONE = 0xff,
};

/* A set of general registers, one bit each: bit n is register n. */
typedef uint16_t x86_gpr_set;

#define X86_GPR_BIT(gpr) ((x86_gpr_set)(1u << (gpr)))

enum x86_segment {
    X86_ES,
    X86_CS,
    X86_SS,
    X86_DS,
    X86_FS,
    X86_GS,
    X86_SEGMENT_NONE = 0xff,
};

/* Conditions as jcc, setcc and cmovcc encode them; flipping bit 0 negates. */
enum x86_condition {
    X86_OVERFLOW,
    X86_NOT_OVERFLOW,
    X86_BELOW,
    X86_NOT_BELOW,
    X86_EQUAL,
    X86_NOT_EQUAL,
    X86_NOT_ABOVE,
    X86_ABOVE,
    X86_SIGN,
    X86_NOT_SIGN,
    X86_PARITY,
    X86_NOT_PARITY,
    X86_LESS,
    X86_NOT_LESS,
    X86_NOT_GREATER,
    X86_GREATER,
};

/* Bits of rflags, at their places in the register. */
enum x86_flag {
    X86_FLAG_CF = 1u << 0,
    X86_FLAG_PF = 1u << 2,
    X86_FLAG_AF = 1u << 4,
    X86_FLAG_ZF = 1u << 6,
    X86_FLAG_SF = 1u << 7,
    X86_FLAG_TF = 1u << 8,
    X86_FLAG_IF = 1u << 9,
    X86_FLAG_DF = 1u << 10,
    X86_FLAG_OF = 1u << 11,
    X86_FLAG_IOPL = 3u << 12,
    X86_FLAG_NT = 1u << 14,
    X86_FLAG_RF = 1u << 16,
    X86_FLAG_VM = 1u << 17,
    X86_FLAG_AC = 1u << 18,
    X86_FLAG_VIF = 1u << 19,
    X86_FLAG_VIP = 1u << 20,
    X86_FLAG_ID = 1u << 21,
    X86_FLAGS_STATUS = X86_FLAG_CF | X86_FLAG_PF | X86_FLAG_AF | X86_FLAG_ZF | X86_FLAG_SF | X86_FLAG_OF,
};

#endif

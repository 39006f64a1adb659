/* SPDX-License-Identifier: MIT */
/*
 * The operands of instructions: sizes, and the memory operand with its constructors. Registers are enum x86_gpr.
 * Plain values, usable anywhere; only a label operand refers to something, the caller's label.
 */
#ifndef GAIT_ARCH_X86_64_ISA_ENCODER_OPERAND_H
#define GAIT_ARCH_X86_64_ISA_ENCODER_OPERAND_H

#include "arch/x86_64/isa/registers.h"

#include <stdbool.h>

struct x86_label;

/* An operand size by its bits; the value is in bytes. Registers of 8 bits are al to r15b, never ah to bh. */
enum x86_size {
    X86_SIZE_8 = 1,
    X86_SIZE_16 = 2,
    X86_SIZE_32 = 4,
    X86_SIZE_64 = 8,
};

enum x86_mem_kind {
    X86_MEM_REGISTERS, /* base + index * scale + displacement, each of which may be missing */
    X86_MEM_ADDRESS,   /* an address, reached relative to rip */
    X86_MEM_LABEL,     /* a label, reached relative to rip */
};

/* A memory operand. Made by the functions below and passed by value. */
struct x86_mem {
    uint8_t kind;    /* enum x86_mem_kind */
    uint8_t base;    /* enum x86_gpr */
    uint8_t index;   /* enum x86_gpr, never rsp */
    uint8_t scale;   /* 1, 2, 4 or 8 */
    uint8_t segment; /* enum x86_segment: the override to write */
    bool address_32; /* the address is computed in 32 bits */
    int32_t displacement;
    union {
        uint64_t address;
        struct x86_label *label;
    };
};

/* [base + index * scale + displacement]; base and index may be X86_GPR_NONE. */
static inline struct x86_mem x86_mem_index(enum x86_gpr base, enum x86_gpr index, unsigned scale, int32_t displacement)
{
    return (struct x86_mem){
        .kind = X86_MEM_REGISTERS,
        .base = (uint8_t)base,
        .index = (uint8_t)index,
        .scale = (uint8_t)scale,
        .segment = X86_SEGMENT_NONE,
        .displacement = displacement,
    };
}

/* [base + displacement] */
static inline struct x86_mem x86_mem_base(enum x86_gpr base, int32_t displacement)
{
    return x86_mem_index(base, X86_GPR_NONE, 1, displacement);
}

/* [displacement]: the lowest or the highest 2 GiB of the address space, or an offset in a segment. */
static inline struct x86_mem x86_mem_absolute(int32_t displacement)
{
    return x86_mem_index(X86_GPR_NONE, X86_GPR_NONE, 1, displacement);
}

/* [rip + what leads to address]. More than 2 GiB from the instruction's end is the writer's sticky overflow. */
static inline struct x86_mem x86_mem_address(uint64_t address)
{
    struct x86_mem memory = x86_mem_absolute(0);

    memory.kind = X86_MEM_ADDRESS;
    memory.address = address;
    return memory;
}

/* [rip + what leads to label], which may be bound later. */
static inline struct x86_mem x86_mem_label(struct x86_label *label)
{
    struct x86_mem memory = x86_mem_absolute(0);

    memory.kind = X86_MEM_LABEL;
    memory.label = label;
    return memory;
}

/* The same operand, relative to the base of a segment: x86_mem_segment(X86_GS, x86_mem_absolute(8)) is gs:[8]. */
static inline struct x86_mem x86_mem_segment(enum x86_segment segment, struct x86_mem memory)
{
    memory.segment = (uint8_t)segment;
    return memory;
}

/* The same operand with its address computed from the low halves of its registers; not for address and label. */
static inline struct x86_mem x86_mem_address_32(struct x86_mem memory)
{
    memory.address_32 = true;
    return memory;
}

#endif

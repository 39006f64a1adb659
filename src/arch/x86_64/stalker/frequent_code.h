/* SPDX-License-Identifier: MIT */
/*
 * The few instructions that most blocks have several of, as bytes: composed by the encoder each would take longer than
 * the instruction that it is put for takes to decode. What is written is what the encoder writes.
 */
#ifndef GAIT_ARCH_X86_64_STALKER_FREQUENT_CODE_H
#define GAIT_ARCH_X86_64_STALKER_FREQUENT_CODE_H

#include "arch/x86_64/isa/registers.h"
#include "base/code_writer.h"
#include "stalker/thread_layout.h"

#define JUMP_BYTES 5

/* mov between a 64-bit register and a field of the thread. */
static inline void x86_put_field_move(struct code_writer *writer, uint8_t opcode, enum x86_gpr gpr, int32_t field)
{
    uint8_t rex = (uint8_t)(0x48 | (gpr >> 3) << 2), modrm = (uint8_t)(0x04 | (gpr & 7) << 3);
    uint8_t bytes[9] = {0x65, rex, opcode, modrm, 0x25};

    __builtin_memcpy(bytes + 5, &field, sizeof(field));
    code_writer_put_bytes(writer, bytes, sizeof(bytes));
}

/* Puts a register to where the program's value of it is kept, and back. */
static inline void x86_put_to_home(struct code_writer *writer, enum x86_gpr gpr)
{
    x86_put_field_move(writer, 0x89, gpr, THREAD_CONTEXT + 8 * (int32_t)gpr);
}

static inline void x86_put_from_home(struct code_writer *writer, enum x86_gpr gpr)
{
    x86_put_field_move(writer, 0x8b, gpr, THREAD_CONTEXT + 8 * (int32_t)gpr);
}

/* jmp to where a field of the thread says. */
static inline void x86_put_field_jump(struct code_writer *writer, int32_t field)
{
    uint8_t bytes[8] = {0x65, 0xff, 0x24, 0x25};

    __builtin_memcpy(bytes + 4, &field, sizeof(field));
    code_writer_put_bytes(writer, bytes, sizeof(bytes));
}

/* An instruction whose last four bytes are the distance from its end to `to`. Out of reach: the sticky overflow. */
static inline void x86_put_relative(struct code_writer *writer, const uint8_t *opening, size_t opening_bytes,
                                    struct cache_pc to)
{
    uint64_t end = code_writer_pc(writer).value + opening_bytes + sizeof(int32_t);
    int32_t distance = (int32_t)(to.value - end);
    uint8_t bytes[8];

    if (!address_fits_rel32(end, to.value)) {
        writer->overflowed = true;
        return;
    }
    __builtin_memcpy(bytes, opening, opening_bytes);
    __builtin_memcpy(bytes + opening_bytes, &distance, sizeof(distance));
    code_writer_put_bytes(writer, bytes, opening_bytes + sizeof(distance));
}

/* jmp */
static inline void x86_put_jump(struct code_writer *writer, struct cache_pc to)
{
    const uint8_t opening[] = {0xe9};

    x86_put_relative(writer, opening, sizeof(opening), to);
}

#endif

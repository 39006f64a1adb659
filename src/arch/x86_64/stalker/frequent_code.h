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

/*
 * Bytes go right to their places: composed elsewhere they would be read again at once, in larger pieces than they were
 * written, for which CPUs wait.
 */
static inline void x86_put_number(uint8_t *place, uint32_t number)
{
    __builtin_memcpy(place, &number, sizeof(number));
}

/* mov between a 64-bit register and a field of the thread. */
static inline void x86_put_field_move(struct code_writer *writer, uint8_t opcode, enum x86_gpr gpr, int32_t field)
{
    uint8_t *place = code_writer_claim(writer, 9);

    if (place == NULL)
        return;
    place[0] = 0x65;
    place[1] = (uint8_t)(0x48 | (gpr >> 3) << 2);
    place[2] = opcode;
    place[3] = (uint8_t)(0x04 | (gpr & 7) << 3);
    place[4] = 0x25;
    x86_put_number(place + 5, (uint32_t)field);
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
    static const uint8_t jmp[] = {0x65, 0xff, 0x24, 0x25};
    uint8_t *place = code_writer_claim(writer, sizeof(jmp) + sizeof(field));

    if (place == NULL)
        return;
    __builtin_memcpy(place, jmp, sizeof(jmp));
    x86_put_number(place + sizeof(jmp), (uint32_t)field);
}

/*
 * An instruction of one or two bytes, the second in the upper half, and the distance from its end to `to`. Out of
 * reach: the sticky overflow.
 */
static inline void x86_put_relative(struct code_writer *writer, uint16_t opening, size_t opening_bytes,
                                    struct cache_pc to)
{
    uint64_t end = code_writer_pc(writer).value + opening_bytes + sizeof(uint32_t);
    uint8_t *place = code_writer_claim(writer, opening_bytes + sizeof(uint32_t));

    if (place == NULL)
        return;
    if (!address_fits_rel32(end, to.value)) {
        writer->overflowed = true;
        return;
    }
    __builtin_memcpy(place, &opening, opening_bytes);
    x86_put_number(place + opening_bytes, (uint32_t)(to.value - end));
}

/* jmp */
static inline void x86_put_jump(struct code_writer *writer, struct cache_pc to)
{
    x86_put_relative(writer, 0xe9, 1, to);
}

#endif

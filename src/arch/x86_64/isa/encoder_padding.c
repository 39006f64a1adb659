/* SPDX-License-Identifier: MIT */
/*
 * Nops. Up to 9 bytes they are the ones that processor vendors recommend; longer ones are the longest of those with
 * more operand size prefixes. Invariant: alignment is that of where the code will run, not of where it is written. No
 * lock: a writer belongs to one thread.
 */
#include "arch/x86_64/isa/encoder_padding.h"

#include "base/assert.h"

#define RECOMMENDED_MAX 9
#define NOP_MAX         15

static const uint8_t recommended[RECOMMENDED_MAX][RECOMMENDED_MAX] = {
    {0x90},
    {0x66, 0x90},
    {0x0f, 0x1f, 0x00},
    {0x0f, 0x1f, 0x40, 0x00},
    {0x0f, 0x1f, 0x44, 0x00, 0x00},
    {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
    {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
    {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
    {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
};

static void put_nop(uint8_t *place, size_t size)
{
    size_t tail = size < RECOMMENDED_MAX ? size : RECOMMENDED_MAX;

    for (size_t i = 0; i < size - tail; i++)
        place[i] = 0x66;
    __builtin_memcpy(place + size - tail, recommended[tail - 1], tail);
}

void x86_nops(struct code_writer *writer, size_t size_bytes)
{
    uint8_t *place = code_writer_claim(writer, size_bytes);

    if (place == NULL)
        return;
    while (size_bytes > 0) {
        size_t size = size_bytes < NOP_MAX ? size_bytes : NOP_MAX;

        put_nop(place, size);
        place += size;
        size_bytes -= size;
    }
}

void x86_align(struct code_writer *writer, size_t alignment)
{
    ASSERT(alignment != 0 && (alignment & (alignment - 1)) == 0, "alignment is no power of two");
    x86_nops(writer, (size_t)(-code_writer_pc(writer).value & (alignment - 1)));
}

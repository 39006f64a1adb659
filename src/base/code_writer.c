/* SPDX-License-Identifier: MIT */
/*
 * Writing code bytes little-endian at a cursor. Invariant: start <= cursor <= limit, and nothing is ever written
 * outside of that. No lock: a writer belongs to one thread. Its neighbour code_memory.c hands out writers over
 * executable memory; tests and planners put one over any buffer.
 */
#include "base/code_writer.h"

#include "base/assert.h"

void code_writer_init(struct code_writer *writer, void *buffer, size_t capacity, struct cache_pc base_pc)
{
    *writer = (struct code_writer){
        .start = buffer,
        .cursor = buffer,
        .limit = (uint8_t *)buffer + capacity,
        .base_pc = base_pc,
    };
}

static void store(uint8_t *place, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        place[i] = (uint8_t)(value >> (8 * i));
}

static void amend(struct code_writer *writer, size_t offset, uint64_t value, size_t size)
{
    size_t written = code_writer_offset(writer);

    if (offset > written || written - offset < size) {
        /* After an overflow the offsets of what was never written are harmless: nobody will run this code. */
        ASSERT(writer->overflowed, "amending code outside of what was written");
        writer->overflowed = true;
        return;
    }
    store(writer->start + offset, value, size);
}

void code_writer_amend_u8(struct code_writer *writer, size_t offset, uint8_t value)
{
    amend(writer, offset, value, sizeof(value));
}

void code_writer_amend_u32(struct code_writer *writer, size_t offset, uint32_t value)
{
    amend(writer, offset, value, sizeof(value));
}

void code_writer_amend_u64(struct code_writer *writer, size_t offset, uint64_t value)
{
    amend(writer, offset, value, sizeof(value));
}

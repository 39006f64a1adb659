/* SPDX-License-Identifier: MIT */
/*
 * A cursor that code is written through. It knows two addresses for each byte: where it is written (the writable view)
 * and where it will run (a cache_pc). Running out of room is sticky: later writes are ignored, and whoever finishes
 * the code asks once, with code_writer_overflowed() or through code_memory_commit(). No locks, no system calls; usable
 * inside the target.
 */
#ifndef GAIT_BASE_CODE_WRITER_H
#define GAIT_BASE_CODE_WRITER_H

#include "base/address.h"

#include <stddef.h>

struct code_writer {
    uint8_t *start;          /* first writable byte */
    uint8_t *cursor;         /* next byte to write */
    uint8_t *limit;          /* one past the last writable byte */
    struct cache_pc base_pc; /* where start will run */
    bool overflowed;
};

/* Begins writing into capacity bytes at buffer that will run at base_pc. The buffer stays the caller's. */
void code_writer_init(struct code_writer *writer, void *buffer, size_t capacity, struct cache_pc base_pc);

/* Claims size bytes at the cursor and returns where to write them, or NULL (and the sticky overflow) without room. */
static inline uint8_t *code_writer_claim(struct code_writer *writer, size_t size)
{
    uint8_t *place = writer->cursor;

    if ((size_t)(writer->limit - place) < size || writer->overflowed) {
        writer->overflowed = true;
        return NULL;
    }
    writer->cursor = place + size;
    return place;
}

/* The lowest bytes of a value, so many of them, lowest first. */
static inline void code_writer_put(struct code_writer *writer, uint64_t value, size_t size)
{
    uint8_t *place = code_writer_claim(writer, size);

    if (place == NULL)
        return;
    for (size_t i = 0; i < size; i++)
        place[i] = (uint8_t)(value >> (8 * i));
}

static inline void code_writer_put_u8(struct code_writer *writer, uint8_t value)
{
    code_writer_put(writer, value, sizeof(value));
}

static inline void code_writer_put_u16(struct code_writer *writer, uint16_t value)
{
    code_writer_put(writer, value, sizeof(value));
}

static inline void code_writer_put_u32(struct code_writer *writer, uint32_t value)
{
    code_writer_put(writer, value, sizeof(value));
}

static inline void code_writer_put_u64(struct code_writer *writer, uint64_t value)
{
    code_writer_put(writer, value, sizeof(value));
}

/* A few bytes whose number is known are stored without a call. */
static inline void code_writer_put_bytes(struct code_writer *writer, const void *bytes, size_t size)
{
    uint8_t *place = code_writer_claim(writer, size);

    if (place != NULL)
        __builtin_memcpy(place, bytes, size);
}

/*
 * Overwrites bytes that were already written through this writer, for displacements that were not known yet. A place
 * outside of what has been written is our own bug: asserted in debug builds, the sticky overflow otherwise.
 */
void code_writer_amend_u8(struct code_writer *writer, size_t offset, uint8_t value);
void code_writer_amend_u32(struct code_writer *writer, size_t offset, uint32_t value);
void code_writer_amend_u64(struct code_writer *writer, size_t offset, uint64_t value);

static inline size_t code_writer_offset(const struct code_writer *writer)
{
    return (size_t)(writer->cursor - writer->start);
}

static inline size_t code_writer_room(const struct code_writer *writer)
{
    return writer->overflowed ? 0 : (size_t)(writer->limit - writer->cursor);
}

/* Where the next byte to be written will run. */
static inline struct cache_pc code_writer_pc(const struct code_writer *writer)
{
    return cache_pc_of(writer->base_pc.value + code_writer_offset(writer));
}

static inline bool code_writer_overflowed(const struct code_writer *writer)
{
    return writer->overflowed;
}

#endif

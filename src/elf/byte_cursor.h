/* SPDX-License-Identifier: MIT */
/*
 * Reading numbers from bytes that are not trusted. Reading behind the end gives zeroes and sets is_bad, which is looked
 * at once, at the end. No libc; usable anywhere.
 */
#ifndef GAIT_ELF_BYTE_CURSOR_H
#define GAIT_ELF_BYTE_CURSOR_H

#include "base/memory_functions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_cursor {
    const uint8_t *at;
    const uint8_t *end;
    bool is_bad;
};

static inline bool byte_cursor_has(struct byte_cursor *cursor, size_t size_bytes)
{
    if ((size_t)(cursor->end - cursor->at) >= size_bytes)
        return true;
    cursor->is_bad = true;
    cursor->at = cursor->end;
    return false;
}

/* A little-endian number of 1 to 8 bytes. */
static inline uint64_t byte_cursor_number(struct byte_cursor *cursor, unsigned size_bytes)
{
    uint64_t number = 0;

    if (byte_cursor_has(cursor, size_bytes)) {
        memcpy(&number, cursor->at, size_bytes);
        cursor->at += size_bytes;
    }
    return number;
}

static inline int64_t byte_cursor_signed(struct byte_cursor *cursor, unsigned size_bytes)
{
    unsigned shift = 64 - 8 * size_bytes;

    return (int64_t)(byte_cursor_number(cursor, size_bytes) << shift) >> shift;
}

/* Longer than any number needs, even with some padding. */
#define LEB_BITS_MAX (7 * 16)

static inline uint64_t byte_cursor_leb(struct byte_cursor *cursor, bool is_signed)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = (uint8_t)byte_cursor_number(cursor, 1);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80 && shift < LEB_BITS_MAX);
    cursor->is_bad |= (byte & 0x80) != 0;
    if (is_signed && shift < 64 && (byte & 0x40))
        value |= ~(uint64_t)0 << shift;
    return value;
}

static inline uint64_t byte_cursor_uleb(struct byte_cursor *cursor)
{
    return byte_cursor_leb(cursor, false);
}

static inline int64_t byte_cursor_sleb(struct byte_cursor *cursor)
{
    return (int64_t)byte_cursor_leb(cursor, true);
}

/* So many bytes, which are skipped. */
static inline const uint8_t *byte_cursor_skip(struct byte_cursor *cursor, uint64_t size_bytes)
{
    const uint8_t *start = cursor->at;

    if (size_bytes > (size_t)(cursor->end - cursor->at)) {
        cursor->is_bad = true;
        cursor->at = cursor->end;
        return cursor->end;
    }
    cursor->at += size_bytes;
    return start;
}

#endif

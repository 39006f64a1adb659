/* SPDX-License-Identifier: MIT */
/*
 * Reads debug information byte by byte, from low addresses on, and never outside of what it was given. What is not
 * there reads as 0, which is sticky: has_failed says so, and nothing can be read after that. Numbers are little-endian.
 * No locks, no libc; usable anywhere.
 */
#ifndef GAIT_SYMBOLIZE_DWARF_DWARF_CURSOR_H
#define GAIT_SYMBOLIZE_DWARF_DWARF_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Some bytes: a section, or a part of one. */
struct dwarf_span {
    const uint8_t *bytes;
    size_t size_bytes;
};

struct dwarf_cursor {
    const uint8_t *at;
    const uint8_t *end;
    bool has_failed;
};

/* From a place of a span to its end. */
static inline struct dwarf_cursor dwarf_cursor_at(struct dwarf_span span, uint64_t offset)
{
    if (offset > span.size_bytes || span.bytes == NULL)
        return (struct dwarf_cursor){.has_failed = true};
    return (struct dwarf_cursor){span.bytes + offset, span.bytes + span.size_bytes, false};
}

static inline size_t dwarf_cursor_left(const struct dwarf_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

static inline void dwarf_cursor_fail(struct dwarf_cursor *cursor)
{
    cursor->at = cursor->end;
    cursor->has_failed = true;
}

static inline void dwarf_cursor_skip(struct dwarf_cursor *cursor, uint64_t size_bytes)
{
    if (size_bytes > dwarf_cursor_left(cursor))
        dwarf_cursor_fail(cursor);
    else
        cursor->at += size_bytes;
}

/* A number of 1 to 8 bytes. */
static inline uint64_t dwarf_cursor_number(struct dwarf_cursor *cursor, unsigned size_bytes)
{
    uint64_t value = 0;

    if (size_bytes > dwarf_cursor_left(cursor)) {
        dwarf_cursor_fail(cursor);
        return 0;
    }
    memcpy(&value, cursor->at, size_bytes);
    cursor->at += size_bytes;
    return value;
}

static inline uint8_t dwarf_cursor_byte(struct dwarf_cursor *cursor)
{
    if (cursor->at == cursor->end) {
        cursor->has_failed = true;
        return 0;
    }
    return *cursor->at++;
}

/* The longer ones. Bits beyond the 64th are dropped. */
static inline uint64_t dwarf_cursor_rest_of_leb(struct dwarf_cursor *cursor, uint64_t value, bool is_signed)
{
    unsigned shift = 7;
    uint8_t byte;

    do {
        byte = dwarf_cursor_byte(cursor);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (is_signed && shift < 64 && byte & 0x40)
        value |= ~0ull << shift;
    return value;
}

static inline uint64_t dwarf_cursor_uleb(struct dwarf_cursor *cursor)
{
    uint8_t byte = dwarf_cursor_byte(cursor);

    return byte < 0x80 ? byte : dwarf_cursor_rest_of_leb(cursor, byte & 0x7f, false);
}

static inline int64_t dwarf_cursor_sleb(struct dwarf_cursor *cursor)
{
    uint8_t byte = dwarf_cursor_byte(cursor);

    if (byte < 0x80)
        return byte & 0x40 ? (int64_t)byte - 0x80 : byte;
    return (int64_t)dwarf_cursor_rest_of_leb(cursor, byte & 0x7f, true);
}

static inline void dwarf_cursor_skip_leb(struct dwarf_cursor *cursor)
{
    while (dwarf_cursor_byte(cursor) & 0x80)
        ;
}

/* A text, ended by a NUL, in place. NULL: there is no end. */
static inline const char *dwarf_cursor_text(struct dwarf_cursor *cursor)
{
    const uint8_t *begin = cursor->at, *end;

    end = cursor->at == cursor->end ? NULL : memchr(begin, '\0', dwarf_cursor_left(cursor));
    if (end == NULL) {
        dwarf_cursor_fail(cursor);
        return NULL;
    }
    cursor->at = end + 1;
    return (const char *)begin;
}

/* The length that units begin with; offset_bytes_out is 4 or 8. */
static inline uint64_t dwarf_cursor_length(struct dwarf_cursor *cursor, uint8_t *offset_bytes_out)
{
    uint64_t length = dwarf_cursor_number(cursor, 4);

    *offset_bytes_out = 4;
    if (length >= 0xfffffff0) {
        if (length != 0xffffffff)
            dwarf_cursor_fail(cursor);
        *offset_bytes_out = 8;
        length = dwarf_cursor_number(cursor, 8);
    }
    return length;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Text and numbers written into a buffer, without libc, locale or memory of its own. A text_writer never writes outside
 * of its buffer and always leaves the text ended by a NUL. Running out of room is sticky: what fits is kept, everything
 * later is ignored, and text_truncated() tells. No locks, no system calls: callable from any thread, in signal handlers
 * and inside the target.
 */
#ifndef GAIT_BASE_TEXT_FORMAT_H
#define GAIT_BASE_TEXT_FORMAT_H

#include "base/attributes.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text_writer {
    char *start;
    size_t used;     /* characters written, without the NUL */
    size_t capacity; /* characters that fit, without the NUL */
    bool truncated;
    uint8_t style; /* how things are spelled, for those who write them; 0 at first */
};

/* Begins an empty text in size_bytes > 0 bytes at buffer, which stay the caller's. */
void text_init(struct text_writer *text, char *buffer, size_t size_bytes);

void text_put_char(struct text_writer *text, char character);
void text_put_bytes(struct text_writer *text, const char *bytes, size_t count);

/* A NULL string is written as (null). */
void text_put_string(struct text_writer *text, const char *string);

void text_put_unsigned(struct text_writer *text, uint64_t value);
void text_put_signed(struct text_writer *text, int64_t value);

/* Lower-case hexadecimal without prefix, filled with zeroes up to digits_min digits. */
void text_put_hex(struct text_writer *text, uint64_t value, size_t digits_min);

/*
 * Appends like printf: %d %i %u %x %X %p %c %s %%, with the flags - and 0 and #, a width, a precision (both also as *),
 * and the lengths l, ll, z, t, h and hh. A pointer is written as 0x and its digits, also NULL. A directive that is none
 * of these is written as it stands, and so is all that follows, since its argument's size is not known.
 */
void text_format(struct text_writer *text, const char *format, ...) PRINTF_LIKE(2, 3);
void text_vformat(struct text_writer *text, const char *format, va_list arguments) PRINTF_LIKE(2, 0);

static inline bool text_truncated(const struct text_writer *text)
{
    return text->truncated;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Comparing text, and reading numbers out of text that need not be ended by a NUL: all characters given must belong to
 * the number, no spaces, no signs. No locks, no system calls: callable from any thread, in signal handlers and inside
 * the target.
 */
#ifndef GAIT_BASE_TEXT_PARSE_H
#define GAIT_BASE_TEXT_PARSE_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether two strings are the same. */
bool text_equal(const char *left, const char *right);

/* Digits 0-9. -EINVAL: empty, or another character; -ERANGE: too large for 64 bits. */
MUST_USE int text_parse_decimal(const char *text, size_t length, uint64_t *value_out);

/* Hexadecimal behind 0x or 0X, decimal otherwise. Errors as above. */
MUST_USE int text_parse_number(const char *text, size_t length, uint64_t *value_out);

/*
 * Digits, perhaps a point and more digits; the value is so many times `scale`, a power of ten or some, rounded down.
 * Errors as above.
 */
MUST_USE int text_parse_scaled(const char *text, size_t length, uint64_t scale, uint64_t *value_out);

/* The same and one of the units ns, us, ms, s and m (minutes): "1.5ms". Errors as above. */
MUST_USE int text_parse_duration(const char *text, size_t length, uint64_t *nanoseconds_out);

#endif

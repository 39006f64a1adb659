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

/* Digits 0-9, a-f and A-F without a prefix. Errors as above. */
MUST_USE int text_parse_hex(const char *text, size_t length, uint64_t *value_out);

/* Hexadecimal behind 0x or 0X, decimal otherwise. Errors as above. */
MUST_USE int text_parse_number(const char *text, size_t length, uint64_t *value_out);

#endif

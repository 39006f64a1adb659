/* SPDX-License-Identifier: MIT */
/*
 * Text in exported files. Names come from foreign programs, and the reader of the file may be strict: all
 * that is written is UTF-8 without control characters. Streams are not locked: one thread at a time.
 */
#ifndef GAIT_EXPORT_EXPORT_TEXT_H
#define GAIT_EXPORT_EXPORT_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Copies the text with U+FFFD for every control character and every byte that is no UTF-8, cut off between two
 * characters where the room ends. Returns the length.
 */
size_t export_text_clean(char *buffer, size_t buffer_bytes, const char *text);

void export_put(FILE *stream, const char *text);
void export_put_number(FILE *stream, uint64_t number);
/* Nanoseconds as microseconds: 1234567 is "1234.567". */
void export_put_microseconds(FILE *stream, uint64_t nanoseconds);

/* What is behind the last slash. */
const char *export_last_name(const char *path);

#endif

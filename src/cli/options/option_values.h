/* SPDX-License-Identifier: MIT */
/* Values of options, out of text. Each is false, and writes nothing, for what is none. */
#ifndef GAIT_CLI_OPTIONS_OPTION_VALUES_H
#define GAIT_CLI_OPTIONS_OPTION_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "none", or names of events with commas between them. */
bool option_read_events(const char *text, uint32_t *events_out);

/* A number from 0 to most. */
bool option_read_number(const char *text, unsigned long most, unsigned long *number_out);

/* A number of bytes, or of K or M, that a ring's buffer can have. */
bool option_read_buffer_bytes(const char *text, size_t *size_out);

/* A number of seconds, at least one. */
bool option_read_seconds(const char *text, unsigned *seconds_out);

/* A size of files: so many K, M or G; at least 64K. Small letters are of times. */
bool option_read_file_bytes(const char *text, uint64_t *size_out);

/* A time of so many s, m or h, at least one second. */
bool option_read_age(const char *text, uint64_t *nanoseconds_out);

/* Seconds that may have a part behind a point. */
bool option_read_roll(const char *text, uint64_t *milliseconds_out);

/* enum ring_overflow */
bool option_read_overflow(const char *text, int *overflow_out);

#endif

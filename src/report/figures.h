/* SPDX-License-Identifier: MIT */
/* Durations and counts as people like to read them. Stateless. */
#ifndef GAIT_REPORT_FIGURES_H
#define GAIT_REPORT_FIGURES_H

#include <stdint.h>

#define DURATION_BYTES 32

/* "12 ns", "1.50 us", "2.50 ms", "3.000 s". Returns the text. */
const char *duration_write(double nanoseconds, char text[DURATION_BYTES]);

/* "12ns", "1.500us", "46.11us", "149.7ms", "12.35s": at most seven columns. Returns the text. */
const char *duration_write_short(double nanoseconds, char text[DURATION_BYTES]);

/* Of a guess, which has no more digits than one: "7 us", "40 ms"; and without the space. Return the text. */
const char *duration_write_rough(double nanoseconds, char text[DURATION_BYTES]);
const char *duration_write_rough_short(double nanoseconds, char text[DURATION_BYTES]);

#define COUNT_BYTES 32

/* "1,234,567". Returns the text. */
const char *count_write(uint64_t count, char text[COUNT_BYTES]);

#endif

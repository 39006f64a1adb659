/* SPDX-License-Identifier: MIT */
/*
 * Numbers as people read them, the same in all that gait shows: a number, one space, the unit. Files that programs read
 * have their own. Each returns the text. Stateless.
 */
#ifndef GAIT_HOSTED_FIGURES_H
#define GAIT_HOSTED_FIGURES_H

#include <stdint.h>

#define FIGURE_BYTES 32

/* With four digits, in the largest unit of which there is one: "12 ns", "1.500 us", "46.11 us", "149.7 ms", "12.35 s".
 * At most eight columns below 28 hours. */
const char *duration_write(double nanoseconds, char text[FIGURE_BYTES]);

/* Of a guess, which has no more digits than one: "7 us", "40 ms". */
const char *duration_write_rough(double nanoseconds, char text[FIGURE_BYTES]);

/* When something was, since the recording began, so that moments can be compared: "0.012 s", "127.250 s". */
const char *moment_write(double seconds, char text[FIGURE_BYTES]);

/* A part of a whole: "41.9 %"; of a guess: "42 %". Of nothing, each part is 0. */
const char *share_write(double part, double whole, char text[FIGURE_BYTES]);
const char *share_write_rough(double part, double whole, char text[FIGURE_BYTES]);

/* In the largest unit of which there is one: "17 bytes", "1.5 KiB", "3.0 MiB", "2.2 GiB". */
const char *size_write(uint64_t bytes, char text[FIGURE_BYTES]);

/* "1,234,567" */
const char *count_write(uint64_t count, char text[FIGURE_BYTES]);

#endif

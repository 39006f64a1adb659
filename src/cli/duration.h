/* SPDX-License-Identifier: MIT */
/* How long something took: from ticks of the counter to what people like to read. */
#ifndef GAIT_CLI_DURATION_H
#define GAIT_CLI_DURATION_H

#include <stddef.h>

struct manifest;

#define DURATION_BYTES 32

/* "12 ns", "1.50 us", "2.50 ms", "3.000 s". Returns the text. */
const char *duration_write(double nanoseconds, char text[DURATION_BYTES]);

/* How many nanoseconds a tick of the counter is; 1 if the recording does not tell. */
double duration_of_tick(const struct manifest *manifest);

#endif

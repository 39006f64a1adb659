/* SPDX-License-Identifier: MIT */
/*
 * Counting what passes a tracepoint before the kernel has made a record of it, which takes longer than the counting.
 * Stateless.
 */
#ifndef GAIT_KERNEL_RAW_TRACEPOINT_H
#define GAIT_KERNEL_RAW_TRACEPOINT_H

#include "kernel/source.h"

#include <stdbool.h>

/*
 * Whether a program at the raw tracepoint of the same name can count what this one is to count at a probe. Then all
 * places of its values are those of the raw tracepoint's arguments; else they are as they were.
 */
bool raw_tracepoint_counts(const struct source_probe *probe, struct program_config *config);

#endif

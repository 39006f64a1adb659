/* SPDX-License-Identifier: MIT */
/* Bytes between functions that nobody executes: what compilers and linkers fill up with. No libc, no state. */
#ifndef GAIT_HOOK_PADDING_H
#define GAIT_HOOK_PADDING_H

#include <stdbool.h>
#include <stdint.h>

struct hook_planner;

/*
 * Whether [start, end) is padding that is not taken. Nothing goes on from what is before it; function_end is where the
 * function ends that this is: dead instructions are padding within it too, zeroes only behind it.
 */
bool hook_padding_is_free(const struct hook_planner *planner, uint64_t start, uint64_t end, uint64_t function_end);

/* Finds so many bytes of padding that start in [low, high]. False: there are none. */
bool hook_padding_find(const struct hook_planner *planner, uint64_t low, uint64_t high, unsigned size_bytes,
                       uint64_t *start_out);

#endif

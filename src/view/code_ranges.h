/* SPDX-License-Identifier: MIT */
/*
 * How often each piece of code ran. Blocks overlap where one is jumped into the middle of; here the pieces do not, and
 * each has run as often as all blocks that it is in.
 */
#ifndef GAIT_VIEW_CODE_RANGES_H
#define GAIT_VIEW_CODE_RANGES_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>

struct code_range {
    uint64_t start;
    uint64_t end;
    uint64_t count;
};

struct code_ranges {
    struct code_range *ranges; /* by start */
    size_t count;
};

/* From blocks in any order, of which some may be the same; those that are empty or wrap around are left out. -ENOMEM.
 */
MUST_USE int code_ranges_make(struct code_ranges *ranges, const struct code_range *blocks, size_t count);
void code_ranges_deinit(struct code_ranges *ranges);

/* How many bytes of these have run. */
uint64_t code_ranges_bytes(const struct code_ranges *ranges, uint64_t start, uint64_t end);

/* How often the part of these that ran most did. */
uint64_t code_ranges_most(const struct code_ranges *ranges, uint64_t start, uint64_t end);

#endif

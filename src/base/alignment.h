/* SPDX-License-Identifier: MIT */
/* Multiples of a power of two: of a page, of the size of a word. Usable anywhere. */
#ifndef GAIT_BASE_ALIGNMENT_H
#define GAIT_BASE_ALIGNMENT_H

#include <stdint.h>

/* The multiple at the value, or the next one below. */
static inline uint64_t align_down(uint64_t value, uint64_t alignment)
{
    return value & ~(alignment - 1);
}

/* The multiple at the value, or the next one above; 0 when that does not fit. */
static inline uint64_t align_up(uint64_t value, uint64_t alignment)
{
    return align_down(value + alignment - 1, alignment);
}

/* How far it is from the value to the next multiple above: of an address, what is left of its page. Never 0. */
static inline uint64_t align_rest(uint64_t value, uint64_t alignment)
{
    return alignment - (value & (alignment - 1));
}

#endif

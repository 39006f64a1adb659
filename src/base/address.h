/* SPDX-License-Identifier: MIT */
/*
 * The two kinds of code address. An app_pc is where the program believes that it runs; a cache_pc is where a
 * translated or relocated copy of that code really runs. They are one-field structs so that mixing them up does not
 * compile. Plain values, usable anywhere.
 */
#ifndef GAIT_BASE_ADDRESS_H
#define GAIT_BASE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

struct app_pc {
    uint64_t value;
};

struct cache_pc {
    uint64_t value;
};

static inline struct app_pc app_pc_of(uint64_t value)
{
    return (struct app_pc){value};
}

static inline struct cache_pc cache_pc_of(uint64_t value)
{
    return (struct cache_pc){value};
}

/* Whether the distance from one place to the other can be written as a signed 32-bit displacement. */
static inline bool address_fits_rel32(uint64_t from, uint64_t to)
{
    int64_t distance = (int64_t)(to - from);

    return distance == (int32_t)distance;
}

/* Whether the distance can be written as a signed 8-bit displacement. */
static inline bool address_fits_rel8(uint64_t from, uint64_t to)
{
    int64_t distance = (int64_t)(to - from);

    return distance == (int8_t)distance;
}

#endif

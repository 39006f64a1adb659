/* SPDX-License-Identifier: MIT */
/* Binary search in what is sorted. No calls, no locks: usable from anywhere. */
#ifndef GAIT_BASE_PARTITION_POINT_H
#define GAIT_BASE_PARTITION_POINT_H

#include <stddef.h>

/*
 * How many of `count` items are in front of the first for which the condition does not hold; in front of that one it
 * holds for all, behind it for none. The condition is an expression of `at`, the index of an item, which the macro
 * declares. A macro, so that the comparison is compiled into the loop.
 */
#define PARTITION_POINT(count, at, condition)                                                                          \
    __extension__({                                                                                                    \
        size_t partition_low = 0, partition_high = (count);                                                            \
                                                                                                                       \
        while (partition_low < partition_high) {                                                                       \
            size_t at = partition_low + (partition_high - partition_low) / 2;                                          \
                                                                                                                       \
            if (condition)                                                                                             \
                partition_low = at + 1;                                                                                \
            else                                                                                                       \
                partition_high = at;                                                                                   \
        }                                                                                                              \
        partition_low;                                                                                                 \
    })

#endif

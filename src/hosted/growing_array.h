/* SPDX-License-Identifier: MIT */
/*
 * Arrays of the heap that grow as items are added. An array is a pointer and a capacity, NULL and 0 at first; both
 * belong to the caller, who frees the array. On failure both stay as they are. Not locked: one thread at a time.
 */
#ifndef GAIT_HOSTED_GROWING_ARRAY_H
#define GAIT_HOSTED_GROWING_ARRAY_H

#include "base/attributes.h"

#include <stddef.h>

/*
 * Makes room for `count` items. An array that grows at least doubles, so that adding an item takes constant time on
 * average. -ENOMEM: there is no memory, or no address space holds so many.
 */
#define ARRAY_RESERVE(items, capacity, count) growing_array_reserve(&(items), &(capacity), (count), sizeof(*(items)))

/* The same, with all items beyond the old capacity zero. */
#define ARRAY_RESERVE_ZEROED(items, capacity, count)                                                                   \
    growing_array_reserve_zeroed(&(items), &(capacity), (count), sizeof(*(items)))

/*
 * Makes room for one more item behind `count` in a list without a capacity: its room is the power of two that holds its
 * items. For lists to which nothing else allocates. -ENOMEM as above.
 */
#define ARRAY_RESERVE_NEXT(items, count) growing_array_reserve_next(&(items), (count), sizeof(*(items)))

/* What the macros call: items_inout points at the pointer to the first item. */
MUST_USE int growing_array_grow(void *items_inout, size_t *capacity, size_t count, size_t item_bytes);
MUST_USE int growing_array_reserve_zeroed(void *items_inout, size_t *capacity, size_t count, size_t item_bytes);
MUST_USE int growing_array_resize(void *items_inout, size_t count, size_t item_bytes);

MUST_USE static inline int growing_array_reserve(void *items_inout, size_t *capacity, size_t count, size_t item_bytes)
{
    return count <= *capacity ? 0 : growing_array_grow(items_inout, capacity, count, item_bytes);
}

MUST_USE static inline int growing_array_reserve_next(void *items_inout, size_t count, size_t item_bytes)
{
    return (count & (count - 1)) != 0 ? 0 : growing_array_resize(items_inout, count == 0 ? 1 : 2 * count, item_bytes);
}

#endif

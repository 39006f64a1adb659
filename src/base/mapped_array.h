/* SPDX-License-Identifier: MIT */
/*
 * Arrays that grow in memory of the kernel's, for code that runs inside the target: a pointer and a capacity, NULL and
 * 0 at first. Both belong to the caller. Not locked; otherwise callable from where memory_map.h is.
 */
#ifndef GAIT_BASE_MAPPED_ARRAY_H
#define GAIT_BASE_MAPPED_ARRAY_H

#include "base/attributes.h"

#include <stddef.h>

/*
 * Makes room for `count` items. An array that grows takes a mapping at least twice as large, in which what is new is
 * zero, and moves there. -ENOMEM: there is no memory; pointer and capacity are as before.
 */
#define MAPPED_ARRAY_RESERVE(items, capacity, count)                                                                   \
    mapped_array_reserve(&(items), &(capacity), (count), sizeof(*(items)))

/* Gives the memory back; the array is empty afterwards. */
#define MAPPED_ARRAY_RELEASE(items, capacity) mapped_array_release(&(items), &(capacity), sizeof(*(items)))

/* What the macros call: items_inout points at the pointer to the first item. */
MUST_USE int mapped_array_grow(void *items_inout, size_t *capacity, size_t count, size_t item_bytes);
void mapped_array_release(void *items_inout, size_t *capacity, size_t item_bytes);

MUST_USE static inline int mapped_array_reserve(void *items_inout, size_t *capacity, size_t count, size_t item_bytes)
{
    return count <= *capacity ? 0 : mapped_array_grow(items_inout, capacity, count, item_bytes);
}

#endif

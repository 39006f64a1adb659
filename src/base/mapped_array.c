/* SPDX-License-Identifier: MIT */
/*
 * All of the pages that are mapped are room for items, so that what is mapped follows from the capacity. The pointer to
 * the first item is copied in and out, as its type is only known to the caller.
 */
#include "base/mapped_array.h"

#include "base/memory_map.h"

#include <asm/errno.h>

int mapped_array_grow(void *items_inout, size_t *capacity, size_t count, size_t item_bytes)
{
    size_t wanted = count > 2 * *capacity ? count : 2 * *capacity, bytes;
    void *old, *items;

    if (__builtin_mul_overflow(wanted, item_bytes, &bytes))
        return -ENOMEM;
    bytes = memory_round_to_pages(bytes);
    if (bytes == 0 || memory_map(bytes, &items) != 0)
        return -ENOMEM;
    __builtin_memcpy(&old, items_inout, sizeof(old));
    if (old != NULL)
        __builtin_memcpy(items, old, *capacity * item_bytes);
    memory_unmap(old, *capacity * item_bytes);
    __builtin_memcpy(items_inout, &items, sizeof(items));
    *capacity = bytes / item_bytes;
    return 0;
}

void mapped_array_release(void *items_inout, size_t *capacity, size_t item_bytes)
{
    void *items;

    __builtin_memcpy(&items, items_inout, sizeof(items));
    memory_unmap(items, *capacity * item_bytes);
    items = NULL;
    __builtin_memcpy(items_inout, &items, sizeof(items));
    *capacity = 0;
}

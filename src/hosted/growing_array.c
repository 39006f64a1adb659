/* SPDX-License-Identifier: MIT */
/*
 * The one place that calls realloc for arrays. The pointer to the first item is copied in and out, as its type is only
 * known to the caller.
 */
#include "hosted/growing_array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_AT_FIRST 256u

int growing_array_resize(void *items_inout, size_t count, size_t item_bytes)
{
    void *items, *resized;

    memcpy(&items, items_inout, sizeof(items));
    /* A doubled count that is 0 was too large. */
    resized = count == 0 || count > PTRDIFF_MAX / item_bytes ? NULL : realloc(items, count * item_bytes);
    if (resized == NULL)
        return -ENOMEM;
    memcpy(items_inout, &resized, sizeof(resized));
    return 0;
}

int growing_array_grow(void *items_inout, size_t *capacity, size_t count, size_t item_bytes)
{
    size_t wanted = *capacity == 0 ? BYTES_AT_FIRST / item_bytes : 2 * *capacity;
    int result;

    if (wanted < count)
        wanted = count;
    result = growing_array_resize(items_inout, wanted, item_bytes);
    if (result == 0)
        *capacity = wanted;
    return result;
}

int growing_array_reserve_zeroed(void *items_inout, size_t *capacity, size_t count, size_t item_bytes)
{
    size_t before = *capacity;
    int result = growing_array_reserve(items_inout, capacity, count, item_bytes);
    char *items;

    if (result != 0 || *capacity == before)
        return result;
    memcpy(&items, items_inout, sizeof(items));
    memset(items + before * item_bytes, 0, (*capacity - before) * item_bytes);
    return 0;
}

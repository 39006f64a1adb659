/* SPDX-License-Identifier: MIT */
#include "trace/detail_text.h"

#include <string.h>

#define POINTERS_BEGIN (1ull << 32)

static bool is_pointer(const struct detail_value *value, const uint8_t *data)
{
    uint64_t number;

    if (value->type != DETAIL_TYPE_U64 || value->data_bytes != sizeof(number))
        return false;
    memcpy(&number, data, sizeof(number));
    return number >= POINTERS_BEGIN;
}

void probe_text_put_arguments(struct detail_text *text, struct detail_values values)
{
    struct detail_value value;
    const uint8_t *data;
    const char *between = "";
    size_t at = 0;

    while (detail_value_next(values.bytes, values.size_bytes, &at, &value, &data)) {
        if (is_pointer(&value, data))
            value.type = DETAIL_TYPE_POINTER;
        detail_text_add(text, between);
        detail_text_put(text, &value, data);
        between = ", ";
    }
}

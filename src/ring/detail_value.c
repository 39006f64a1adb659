/* SPDX-License-Identifier: MIT */
#include "ring/detail_value.h"

static const uint8_t type_bytes[DETAIL_TYPES] = {
    [DETAIL_TYPE_I8] = 1,        [DETAIL_TYPE_I16] = 2,     [DETAIL_TYPE_I32] = 4,   [DETAIL_TYPE_I64] = 8,
    [DETAIL_TYPE_U8] = 1,        [DETAIL_TYPE_U16] = 2,     [DETAIL_TYPE_U32] = 4,   [DETAIL_TYPE_U64] = 8,
    [DETAIL_TYPE_HEX] = 8,       [DETAIL_TYPE_POINTER] = 8, [DETAIL_TYPE_FLOAT] = 4, [DETAIL_TYPE_DOUBLE] = 8,
    [DETAIL_TYPE_CHARACTER] = 1, [DETAIL_TYPE_TRUTH] = 1,   [DETAIL_TYPE_ERRNO] = 4, [DETAIL_TYPE_DESCRIPTOR] = 4,
};

uint32_t detail_type_bytes(uint32_t type)
{
    return type < DETAIL_TYPES ? type_bytes[type] : 0;
}

void detail_value_writer_init(struct detail_value_writer *writer, void *bytes, uint32_t room, uint32_t count)
{
    uint32_t reserved = count * (uint32_t)sizeof(struct detail_value);

    *writer = (struct detail_value_writer){
        .bytes = bytes,
        .room = room,
        .reserved = reserved < room ? reserved : room,
    };
}

/* Of the beginnings that are reserved, one is its own. */
uint32_t detail_value_room(const struct detail_value_writer *writer)
{
    uint32_t own = writer->reserved >= sizeof(struct detail_value) ? 0 : (uint32_t)sizeof(struct detail_value);
    uint32_t taken = writer->used + writer->reserved + own;

    return taken < writer->room ? writer->room - taken : 0;
}

uint8_t *detail_value_place(const struct detail_value_writer *writer)
{
    return writer->bytes + writer->used + sizeof(struct detail_value);
}

void detail_value_put(struct detail_value_writer *writer, struct detail_value value, const void *data)
{
    if (value.data_bytes > detail_value_room(writer))
        value = (struct detail_value){.type = value.type, .flags = DETAIL_VALUE_LEFT_OUT};
    if (writer->reserved >= sizeof(value))
        writer->reserved -= (uint32_t)sizeof(value);
    if (writer->room - writer->used < sizeof(value) + value.data_bytes)
        return;
    if (data != detail_value_place(writer))
        __builtin_memcpy(detail_value_place(writer), data, value.data_bytes);
    __builtin_memcpy(writer->bytes + writer->used, &value, sizeof(value));
    writer->used += (uint32_t)sizeof(value) + value.data_bytes;
}

bool detail_value_next(const uint8_t *bytes, size_t size_bytes, size_t *at_inout, struct detail_value *value_out,
                       const uint8_t **data_out)
{
    struct detail_value value;
    uint32_t fixed_bytes;
    size_t at = *at_inout;

    if (at > size_bytes || size_bytes - at < sizeof(value))
        return false;
    __builtin_memcpy(&value, bytes + at, sizeof(value));
    at += sizeof(value);
    fixed_bytes = detail_type_bytes(value.type);
    if (value.type >= DETAIL_TYPES || value.data_bytes > size_bytes - at ||
        (fixed_bytes != 0 && value.data_bytes != 0 && value.data_bytes != fixed_bytes))
        return false;
    *value_out = value;
    *data_out = bytes + at;
    *at_inout = at + value.data_bytes;
    return true;
}

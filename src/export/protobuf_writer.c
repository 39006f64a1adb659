/* SPDX-License-Identifier: MIT */
/*
 * A message's length stands before it, and is known behind it. One byte is left for it, which is enough for almost all;
 * longer messages move.
 */
#define _GNU_SOURCE
#include "export/protobuf_writer.h"

#include "hosted/growing_array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VARINT_BYTES 10u

enum wire_type { WIRE_VARINT = 0, WIRE_BYTES = 2 };

void protobuf_writer_init(struct protobuf_writer *writer)
{
    *writer = (struct protobuf_writer){.used = 0};
}

void protobuf_writer_deinit(struct protobuf_writer *writer)
{
    free(writer->bytes);
    protobuf_writer_init(writer);
}

static bool make_room(struct protobuf_writer *writer, size_t more)
{
    writer->has_failed = writer->has_failed || ARRAY_RESERVE(writer->bytes, writer->capacity, writer->used + more) != 0;
    return !writer->has_failed;
}

static size_t encode_varint(uint8_t *bytes, uint64_t value)
{
    size_t length = 0;

    for (; value >= 0x80; value >>= 7)
        bytes[length++] = (uint8_t)(value | 0x80);
    bytes[length++] = (uint8_t)value;
    return length;
}

void protobuf_put_packed(struct protobuf_writer *writer, uint64_t value)
{
    if (make_room(writer, VARINT_BYTES))
        writer->used += encode_varint(writer->bytes + writer->used, value);
}

static void put_key(struct protobuf_writer *writer, uint32_t field, enum wire_type type)
{
    protobuf_put_packed(writer, (uint64_t)field << 3 | type);
}

void protobuf_put_number(struct protobuf_writer *writer, uint32_t field, uint64_t value)
{
    put_key(writer, field, WIRE_VARINT);
    protobuf_put_packed(writer, value);
}

void protobuf_put_bytes(struct protobuf_writer *writer, uint32_t field, const void *bytes, size_t size_bytes)
{
    put_key(writer, field, WIRE_BYTES);
    protobuf_put_packed(writer, size_bytes);
    if (!make_room(writer, size_bytes))
        return;
    memcpy(writer->bytes + writer->used, bytes, size_bytes);
    writer->used += size_bytes;
}

void protobuf_put_text(struct protobuf_writer *writer, uint32_t field, const char *text)
{
    protobuf_put_bytes(writer, field, text, strlen(text));
}

size_t protobuf_begin_message(struct protobuf_writer *writer, uint32_t field)
{
    put_key(writer, field, WIRE_BYTES);
    if (make_room(writer, 1))
        writer->bytes[writer->used++] = 0;
    return writer->used;
}

void protobuf_end_message(struct protobuf_writer *writer, size_t begun)
{
    uint8_t length[VARINT_BYTES];
    size_t size_bytes = writer->used - begun, length_bytes = encode_varint(length, size_bytes);

    if (!make_room(writer, length_bytes))
        return;
    if (length_bytes > 1)
        memmove(writer->bytes + begun - 1 + length_bytes, writer->bytes + begun, size_bytes);
    memcpy(writer->bytes + begun - 1, length, length_bytes);
    writer->used += length_bytes - 1;
}

int protobuf_writer_flush(struct protobuf_writer *writer, FILE *stream)
{
    if (writer->has_failed)
        return -ENOMEM;
    fwrite_unlocked(writer->bytes, 1, writer->used, stream);
    writer->used = 0;
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Blocks of stored bytes, each with its length and that length's complement; the last one is empty, and says so. */
#include "export/gzip_writer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define BLOCK_BYTES_MAX 65535u
#define POLYNOMIAL      0xedb88320u

struct gzip_writer {
    FILE *stream;
    uint32_t table[256];
    uint32_t sum; /* CRC-32 */
    uint32_t size_bytes;
};

static void put_number(FILE *stream, uint32_t number, unsigned byte_count)
{
    for (unsigned i = 0; i < byte_count; i++)
        putc((int)(number >> 8 * i & 0xff), stream);
}

int gzip_writer_create(struct gzip_writer **writer_out, FILE *stream)
{
    static const unsigned char header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    struct gzip_writer *writer = calloc(1, sizeof(*writer));

    if (writer == NULL)
        return -ENOMEM;
    writer->stream = stream;
    writer->sum = UINT32_MAX;
    for (uint32_t i = 0; i < 256; i++) {
        writer->table[i] = i;
        for (unsigned bit = 0; bit < 8; bit++)
            writer->table[i] = writer->table[i] >> 1 ^ (writer->table[i] & 1 ? POLYNOMIAL : 0);
    }
    fwrite(header, 1, sizeof(header), stream);
    *writer_out = writer;
    return 0;
}

static void put_block(FILE *stream, const uint8_t *bytes, size_t size_bytes, bool is_last)
{
    putc(is_last, stream);
    put_number(stream, (uint32_t)size_bytes, 2);
    put_number(stream, ~(uint32_t)size_bytes, 2);
    fwrite(bytes, 1, size_bytes, stream);
}

void gzip_writer_put(struct gzip_writer *writer, const void *bytes, size_t size_bytes)
{
    const uint8_t *place = bytes;

    for (size_t i = 0; i < size_bytes; i++)
        writer->sum = writer->sum >> 8 ^ writer->table[(writer->sum ^ place[i]) & 0xff];
    writer->size_bytes += (uint32_t)size_bytes;
    while (size_bytes > 0) {
        size_t part = size_bytes > BLOCK_BYTES_MAX ? BLOCK_BYTES_MAX : size_bytes;

        put_block(writer->stream, place, part, false);
        place += part;
        size_bytes -= part;
    }
}

void gzip_writer_finish(struct gzip_writer *writer)
{
    put_block(writer->stream, (const uint8_t *)"", 0, true);
    put_number(writer->stream, ~writer->sum, 4);
    put_number(writer->stream, writer->size_bytes, 4);
    free(writer);
}

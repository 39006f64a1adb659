/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "export/gzip_writer.h"

#include "support/check.h"

#include <zlib.h>

/* Writes so many pieces, and reads them back. */
static void check_back(const uint8_t *bytes, size_t piece_bytes, size_t piece_count)
{
    size_t packed_bytes = 0, unpacked_bytes = piece_bytes * piece_count + 1;
    uint8_t *unpacked = malloc(unpacked_bytes);
    struct gzip_writer *writer;
    z_stream zlib = {0};
    char *packed;
    FILE *stream = open_memstream(&packed, &packed_bytes);

    CHECK_EQUAL(gzip_writer_create(&writer, stream), 0);
    for (size_t i = 0; i < piece_count; i++)
        gzip_writer_put(writer, bytes + i * piece_bytes, piece_bytes);
    gzip_writer_finish(writer);
    fclose(stream);
    CHECK_EQUAL((uint8_t)packed[0], 0x1f);
    CHECK_EQUAL((uint8_t)packed[1], 0x8b);
    CHECK_EQUAL(inflateInit2(&zlib, MAX_WBITS + 16), Z_OK);
    zlib.next_in = (uint8_t *)packed;
    zlib.avail_in = (unsigned)packed_bytes;
    zlib.next_out = unpacked;
    zlib.avail_out = (unsigned)unpacked_bytes;
    CHECK_EQUAL(inflate(&zlib, Z_FINISH), Z_STREAM_END);
    CHECK_EQUAL(zlib.total_out, piece_bytes * piece_count);
    CHECK(memcmp(unpacked, bytes, piece_bytes * piece_count) == 0);
    inflateEnd(&zlib);
    free(packed);
    free(unpacked);
}

static void what_is_written_can_be_unpacked(void)
{
    static uint8_t bytes[300000];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 13);
    check_back(bytes, 0, 0);
    check_back(bytes, 1, 1);
    check_back(bytes, 7, 1000);
    check_back(bytes, sizeof(bytes), 1);
    check_back(bytes, 100000, 3);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_is_written_can_be_unpacked),
};

CHECK_MAIN(cases)

/* SPDX-License-Identifier: MIT */
#include "trace/chunk_encoder.h"

#include "support/check.h"
#include "support/random.h"
#include "trace/compression.h"
#include "trace/crc32c.h"

#include <errno.h>
#include <stdlib.h>

static uint8_t bytes[10000], back[10000];

static void contents_are_stored_as_they_are(void)
{
    struct chunk_encoder *encoder;
    struct encoded_chunk chunk;

    CHECK_EQUAL(chunk_encoder_create(false, &encoder), 0);
    CHECK_EQUAL(chunk_encoder_run(encoder, &(struct stream_piece){"abcde", 5, 10, 20, 7}, &chunk), 0);
    CHECK_EQUAL(chunk.header.magic, TRACE_CHUNK_MAGIC);
    CHECK_EQUAL(chunk.header.flags, 0);
    CHECK_EQUAL(chunk.header.stored_bytes, 5);
    CHECK_EQUAL(chunk.header.raw_bytes, 5);
    CHECK_EQUAL(chunk.header.first_time, 10);
    CHECK_EQUAL(chunk.header.last_time, 20);
    CHECK_EQUAL(chunk.header.lost_before, 7);
    CHECK_EQUAL(chunk.header.data_crc, crc32c_by_tables(0, "abcde", 5));
    CHECK(memcmp(chunk.stored, "abcde", 5) == 0);
    chunk_encoder_destroy(encoder);
}

static void what_gets_smaller_is_compressed(void)
{
    struct stream_piece piece = {.bytes = bytes, .size_bytes = sizeof(bytes)};
    struct chunk_encoder *encoder;
    struct encoded_chunk chunk;
    struct random random;

    if (chunk_encoder_create(true, &encoder) == -EOPNOTSUPP)
        return;
    memset(bytes, 7, sizeof(bytes));
    CHECK_EQUAL(chunk_encoder_run(encoder, &piece, &chunk), 0);
    CHECK_EQUAL(chunk.header.flags, TRACE_CHUNK_ZSTD);
    CHECK_EQUAL(chunk.header.raw_bytes, sizeof(bytes));
    CHECK_EQUAL(chunk.header.data_crc, crc32c_by_tables(0, chunk.stored, chunk.header.stored_bytes));
    CHECK_EQUAL(compression_undo(chunk.stored, chunk.header.stored_bytes, back, sizeof(back)), 0);
    CHECK(memcmp(bytes, back, sizeof(bytes)) == 0);
    random_init(&random, 5);
    random_fill(&random, bytes, sizeof(bytes));
    CHECK_EQUAL(chunk_encoder_run(encoder, &piece, &chunk), 0);
    CHECK_EQUAL(chunk.header.flags, 0);
    CHECK_EQUAL(chunk.header.stored_bytes, sizeof(bytes));
    piece.size_bytes = 0;
    CHECK_EQUAL(chunk_encoder_run(encoder, &piece, &chunk), 0);
    CHECK_EQUAL(chunk.header.stored_bytes, 0);
    chunk_encoder_destroy(encoder);
}

static void too_much_is_refused(void)
{
    struct stream_piece piece = {.bytes = bytes, .size_bytes = TRACE_CHUNK_BYTES_MAX + 1ul};
    struct chunk_encoder *encoder;
    struct encoded_chunk chunk = {.stored = NULL};

    CHECK_EQUAL(chunk_encoder_create(false, &encoder), 0);
    CHECK_EQUAL(chunk_encoder_run(encoder, &piece, &chunk), -EINVAL);
    CHECK(chunk.stored == NULL);
    chunk_encoder_destroy(encoder);
    chunk_encoder_destroy(NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(contents_are_stored_as_they_are),
    CHECK_CASE(what_gets_smaller_is_compressed),
    CHECK_CASE(too_much_is_refused),
};

CHECK_MAIN(cases)

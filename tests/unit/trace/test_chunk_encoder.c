/* SPDX-License-Identifier: MIT */
#include "trace/chunk_encoder.h"

#include "support/check.h"
#include "support/long_calls.h"
#include "support/random.h"
#include "trace/compression.h"
#include "trace/crc32c.h"
#include "trace/record_packing.h"

#include <errno.h>
#include <string.h>

static uint8_t bytes[10000], back[10000];

static void contents_are_stored_as_they_are(void)
{
    struct chunk_encoder *encoder;
    struct encoded_chunk chunk;

    CHECK_EQUAL(chunk_encoder_create(false, &encoder), 0);
    CHECK_EQUAL(
        chunk_encoder_run(encoder,
                          &(struct chunk_contents){
                              .bytes = "abcde", .size_bytes = 5, .first_time = 10, .last_time = 20, .lost_before = 7},
                          &chunk),
        0);
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

static void what_is_packed_already_says_from_what(void)
{
    struct chunk_contents contents = {.bytes = "abcde", .size_bytes = 5, .unpacked_bytes = 48};
    struct chunk_encoder *encoder;
    struct encoded_chunk chunk;

    CHECK_EQUAL(chunk_encoder_create(false, &encoder), 0);
    CHECK_EQUAL(chunk_encoder_run(encoder, &contents, &chunk), 0);
    CHECK_EQUAL(chunk.header.flags, TRACE_CHUNK_PACKED);
    CHECK_EQUAL(chunk.header.stored_bytes, 5);
    CHECK_EQUAL(chunk.header.raw_bytes, 48);
    contents.unpacked_bytes = 5;
    CHECK_EQUAL(chunk_encoder_run(encoder, &contents, &chunk), -EINVAL);
    contents.unpacked_bytes = TRACE_CHUNK_BYTES_MAX + 8;
    CHECK_EQUAL(chunk_encoder_run(encoder, &contents, &chunk), -EINVAL);
    chunk_encoder_destroy(encoder);
}

static void what_gets_smaller_is_compressed(void)
{
    struct chunk_contents contents = {.bytes = bytes, .size_bytes = sizeof(bytes)};
    struct chunk_encoder *encoder;
    struct encoded_chunk chunk;
    struct random random;

    if (chunk_encoder_create(true, &encoder) == -EOPNOTSUPP)
        return;
    memset(bytes, 7, sizeof(bytes));
    CHECK_EQUAL(chunk_encoder_run(encoder, &contents, &chunk), 0);
    CHECK_EQUAL(chunk.header.flags, TRACE_CHUNK_ZSTD);
    CHECK_EQUAL(chunk.header.raw_bytes, sizeof(bytes));
    CHECK_EQUAL(chunk.header.data_crc, crc32c_by_tables(0, chunk.stored, chunk.header.stored_bytes));
    CHECK_EQUAL(compression_undo(chunk.stored, chunk.header.stored_bytes, back, sizeof(back)), 0);
    CHECK(memcmp(bytes, back, sizeof(bytes)) == 0);
    random_init(&random, 5);
    random_fill(&random, bytes, sizeof(bytes));
    CHECK_EQUAL(chunk_encoder_run(encoder, &contents, &chunk), 0);
    CHECK_EQUAL(chunk.header.flags, 0);
    CHECK_EQUAL(chunk.header.stored_bytes, sizeof(bytes));
    contents.size_bytes = 0;
    CHECK_EQUAL(chunk_encoder_run(encoder, &contents, &chunk), 0);
    CHECK_EQUAL(chunk.header.stored_bytes, 0);
    chunk_encoder_destroy(encoder);
}

/* The same block again and again. */
static void put_blocks(void)
{
    uint32_t header = event_header(7, EVENT_RECORD_BLOCK);

    for (size_t i = 0; i < sizeof(bytes); i += sizeof(header))
        memcpy(bytes + i, &header, sizeof(header));
}

static void records_are_packed(void)
{
    struct chunk_contents contents = {.bytes = bytes, .size_bytes = sizeof(bytes), .has_records = true};
    struct record_predictor *predictor;
    struct chunk_encoder *encoder;
    struct encoded_chunk chunk;

    CHECK_EQUAL(record_predictor_create(&predictor), 0);
    CHECK_EQUAL(chunk_encoder_create(false, &encoder), 0);
    put_blocks();
    CHECK_EQUAL(chunk_encoder_run(encoder, &contents, &chunk), 0);
    CHECK_EQUAL(chunk.header.flags, TRACE_CHUNK_PACKED);
    CHECK_EQUAL(chunk.header.raw_bytes, sizeof(bytes));
    CHECK(chunk.header.stored_bytes < 100);
    CHECK_EQUAL(chunk.record_count, sizeof(bytes) / 4);
    CHECK_EQUAL(chunk.header.data_crc, crc32c_by_tables(0, chunk.stored, chunk.header.stored_bytes));
    CHECK_EQUAL(record_packing_undo(predictor, contents.format,
                                    (struct packing_source){chunk.stored, chunk.header.stored_bytes}, back,
                                    sizeof(back)),
                0);
    CHECK(memcmp(bytes, back, sizeof(bytes)) == 0);
    /* What are no records is stored as it is; those before it count. */
    bytes[12] = 0;
    CHECK_EQUAL(chunk_encoder_run(encoder, &contents, &chunk), 0);
    CHECK_EQUAL(chunk.header.flags, 0);
    CHECK_EQUAL(chunk.record_count, 3);
    /* So do those that are too few to be packed. */
    put_blocks();
    contents.size_bytes = 8;
    CHECK_EQUAL(chunk_encoder_run(encoder, &contents, &chunk), 0);
    CHECK_EQUAL(chunk.header.flags, 0);
    CHECK_EQUAL(chunk.record_count, 2);
    contents = (struct chunk_contents){.bytes = bytes, .size_bytes = sizeof(bytes), .record_count = 5};
    CHECK_EQUAL(chunk_encoder_run(encoder, &contents, &chunk), 0);
    CHECK_EQUAL(chunk.record_count, 5);
    CHECK_EQUAL(chunk.header.stored_bytes, sizeof(bytes));
    chunk_encoder_destroy(encoder);
    record_predictor_destroy(predictor);
}

static void marks_stand_in_front(void)
{
    const struct trace_mark marks[] = {{.time = 12, .offset = 4}, {.time = 15, .offset = 400}};
    struct chunk_contents contents = {.bytes = bytes, .size_bytes = sizeof(bytes), .marks = marks, .mark_count = 2};
    struct chunk_encoder *encoder;
    struct encoded_chunk chunk;

    CHECK_EQUAL(chunk_encoder_create(false, &encoder), 0);
    for (int is_packed = 0; is_packed < 2; is_packed++) {
        put_blocks();
        contents.has_records = is_packed;
        CHECK_EQUAL(chunk_encoder_run(encoder, &contents, &chunk), 0);
        CHECK_EQUAL(chunk.header.flags, TRACE_CHUNK_MARKS | (is_packed ? TRACE_CHUNK_PACKED : 0));
        CHECK_EQUAL(chunk.header.raw_bytes, sizeof(bytes));
        CHECK_EQUAL(*(const uint32_t *)chunk.stored, 2);
        CHECK(memcmp((const uint8_t *)chunk.stored + 8, marks, sizeof(marks)) == 0);
        if (!is_packed) {
            CHECK_EQUAL(chunk.header.stored_bytes, 40 + sizeof(bytes));
            CHECK(memcmp((const uint8_t *)chunk.stored + 40, bytes, sizeof(bytes)) == 0);
        }
    }
    chunk_encoder_destroy(encoder);
}

/* A function that is called a thousand times takes 32 bytes. */
static void counts_stand_in_front_of_all(void)
{
    static struct trace_bytes records;
    struct chunk_contents contents = {
        .bytes = records.bytes, .has_records = true, .format = event_format_of(EVENTS_HOOKED, false)};
    struct chunk_encoder *encoder;
    struct encoded_chunk chunk;
    struct random random;
    uint32_t words[4];

    long_calls_make(&records);
    /* So that little is left to be compressed. */
    random_init(&random, 9);
    for (size_t at = EVENT_SP_OFFSET; at < records.size_bytes; at += EVENT_HOOK_BYTES)
        records.bytes[at] ^= (uint8_t)random_below(&random, 16);
    for (int compress = 0; compress < 2; compress++) {
        if (chunk_encoder_create(compress, &encoder) == -EOPNOTSUPP)
            return;
        contents.size_bytes = records.size_bytes;
        CHECK_EQUAL(chunk_encoder_run(encoder, &contents, &chunk), 0);
        CHECK_EQUAL(chunk.header.flags,
                    TRACE_CHUNK_PACKED | TRACE_CHUNK_COUNTS | (compress ? (unsigned)TRACE_CHUNK_ZSTD : 0));
        CHECK_EQUAL(chunk.header.data_crc, crc32c_by_tables(0, chunk.stored, chunk.header.stored_bytes));
        memcpy(words, chunk.stored, sizeof(words));
        CHECK_EQUAL(words[0], 3);
        CHECK_EQUAL(words[2], 0);
        CHECK(trace_counts_bytes(3) * 32 <= chunk.header.stored_bytes);
        /* They are not worth it where there is little else. */
        contents.size_bytes = 64 * EVENT_HOOK_BYTES;
        CHECK_EQUAL(chunk_encoder_run(encoder, &contents, &chunk), 0);
        CHECK(!(chunk.header.flags & TRACE_CHUNK_COUNTS));
        chunk_encoder_destroy(encoder);
    }
}

static void too_much_is_refused(void)
{
    struct chunk_contents contents = {.bytes = bytes, .size_bytes = TRACE_CHUNK_BYTES_MAX + 1ul};
    struct chunk_encoder *encoder;
    struct encoded_chunk chunk = {.stored = NULL};

    CHECK_EQUAL(chunk_encoder_create(false, &encoder), 0);
    CHECK_EQUAL(chunk_encoder_run(encoder, &contents, &chunk), -EINVAL);
    contents = (struct chunk_contents){.bytes = bytes, .size_bytes = 8, .mark_count = TRACE_MARKS_MAX + 1};
    CHECK_EQUAL(chunk_encoder_run(encoder, &contents, &chunk), -EINVAL);
    CHECK(chunk.stored == NULL);
    chunk_encoder_destroy(encoder);
    chunk_encoder_destroy(NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_is_packed_already_says_from_what),
    CHECK_CASE(contents_are_stored_as_they_are),
    CHECK_CASE(what_gets_smaller_is_compressed),
    CHECK_CASE(records_are_packed),
    CHECK_CASE(marks_stand_in_front),
    CHECK_CASE(counts_stand_in_front_of_all),
    CHECK_CASE(too_much_is_refused),
};

CHECK_MAIN(cases)

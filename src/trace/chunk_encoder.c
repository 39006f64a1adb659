/* SPDX-License-Identifier: MIT */
/* A step that makes nothing smaller is left out: its flag says so. */
#include "trace/chunk_encoder.h"

#include "hosted/growing_array.h"
#include "trace/compression.h"
#include "trace/crc32c.h"
#include "trace/record_counts.h"
#include "trace/record_packing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Counts may take this part of a chunk, no more: they are for the many records of few functions. */
#define COUNTS_PART 32u

struct chunk_encoder {
    struct compressor *compressor; /* NULL: none */
    struct record_predictor *predictor;
    struct record_counts *counts; /* NULL: nothing was counted yet */
    uint8_t *buffer;              /* room for counts; then marks, and packed records behind them */
    size_t buffer_bytes;
};

int chunk_encoder_create(bool compress, struct chunk_encoder **encoder_out)
{
    struct chunk_encoder *encoder = calloc(1, sizeof(*encoder));
    int result = encoder == NULL ? -ENOMEM : 0;

    if (result == 0)
        result = record_predictor_create(&encoder->predictor);
    if (result == 0 && compress)
        result = compressor_create(&encoder->compressor);
    if (result != 0) {
        chunk_encoder_destroy(encoder);
        return result;
    }
    *encoder_out = encoder;
    return 0;
}

void chunk_encoder_destroy(struct chunk_encoder *encoder)
{
    if (encoder == NULL)
        return;
    compressor_destroy(encoder->compressor);
    record_predictor_destroy(encoder->predictor);
    record_counts_destroy(encoder->counts);
    free(encoder->buffer);
    free(encoder);
}

static uint8_t *behind_counts(const struct chunk_encoder *encoder)
{
    return encoder->buffer + TRACE_COUNTS_BYTES_MAX;
}

/* Puts the marks into the buffer. Returns how many bytes that are. */
static size_t put_marks(struct chunk_encoder *encoder, const struct chunk_contents *contents)
{
    struct trace_marks marks = {.count = contents->mark_count};
    size_t marks_bytes = contents->mark_count * sizeof(*contents->marks);

    if (contents->mark_count == 0)
        return 0;
    memcpy(behind_counts(encoder), &marks, sizeof(marks));
    memcpy(behind_counts(encoder) + sizeof(marks), contents->marks, marks_bytes);
    return sizeof(marks) + marks_bytes;
}

/* Of those that were not packed. */
static uint64_t count_records(const struct chunk_contents *contents)
{
    const uint8_t *place = contents->bytes, *end = place + contents->size_bytes;
    uint64_t count = 0;
    uint32_t header, size;

    for (; end - place >= (ptrdiff_t)sizeof(header); place += size, count++) {
        memcpy(&header, place, sizeof(header));
        size = event_record_bytes(contents->format, event_header_record(header));
        if (size == 0 || end - place < (ptrdiff_t)size)
            break;
    }
    return count;
}

/* What there is besides compressing: marks, and packed records. */
static int pack_stored(struct chunk_encoder *encoder, const struct chunk_contents *contents,
                       struct encoded_chunk *chunk)
{
    struct packing_source records = {contents->bytes, contents->size_bytes};
    size_t packed_bytes = contents->size_bytes, marks_bytes;
    int result = -E2BIG;

    if (!contents->has_records && contents->mark_count == 0)
        return 0;
    if (ARRAY_RESERVE(encoder->buffer, encoder->buffer_bytes,
                      TRACE_COUNTS_BYTES_MAX + sizeof(struct trace_marks) +
                          contents->mark_count * sizeof(*contents->marks) +
                          record_packing_room(contents->size_bytes)) != 0)
        return -ENOMEM;
    marks_bytes = put_marks(encoder, contents);
    if (contents->has_records)
        result = record_packing_do(encoder->predictor, contents->format, records, behind_counts(encoder) + marks_bytes,
                                   &packed_bytes);
    if (contents->has_records)
        chunk->record_count = result == 0 ? record_packing_count(encoder->predictor) : count_records(contents);
    if (result != 0 && marks_bytes == 0)
        return 0;
    if (result != 0)
        memcpy(behind_counts(encoder) + marks_bytes, contents->bytes, contents->size_bytes);
    chunk->header.flags |= (result == 0 ? TRACE_CHUNK_PACKED : 0) | (marks_bytes != 0 ? TRACE_CHUNK_MARKS : 0);
    chunk->header.stored_bytes = (uint32_t)(marks_bytes + packed_bytes);
    chunk->stored = behind_counts(encoder);
    return 0;
}

static int compress_stored(struct chunk_encoder *encoder, struct encoded_chunk *chunk)
{
    size_t bytes;
    int result;

    if (encoder->compressor == NULL || chunk->header.stored_bytes == 0)
        return 0;
    result = compressor_run(encoder->compressor, chunk->stored, chunk->header.stored_bytes, &chunk->stored, &bytes);
    if (result != 0)
        return result == -E2BIG ? 0 : result;
    chunk->header.flags |= TRACE_CHUNK_ZSTD;
    chunk->header.stored_bytes = (uint32_t)bytes;
    return 0;
}

/* In front of what is stored, if they are few. */
static int put_counts(struct chunk_encoder *encoder, const struct chunk_contents *contents, struct encoded_chunk *chunk)
{
    struct packing_source records = {contents->bytes, contents->size_bytes};
    size_t stored_bytes = chunk->header.stored_bytes, room = stored_bytes / COUNTS_PART, counts_bytes;

    if (!contents->format.is_hooked || !(chunk->header.flags & TRACE_CHUNK_PACKED) || room < trace_counts_bytes(1))
        return 0;
    if (encoder->counts == NULL && record_counts_create(&encoder->counts) != 0)
        return -ENOMEM;
    counts_bytes =
        record_counts_take(encoder->counts, records, room < TRACE_COUNTS_BYTES_MAX ? room : TRACE_COUNTS_BYTES_MAX);
    if (counts_bytes == 0 || stored_bytes + counts_bytes >= contents->size_bytes)
        return 0;
    /* What was compressed is elsewhere. */
    if (chunk->stored != behind_counts(encoder))
        memcpy(behind_counts(encoder), chunk->stored, stored_bytes);
    record_counts_write(encoder->counts, behind_counts(encoder) - counts_bytes);
    chunk->stored = behind_counts(encoder) - counts_bytes;
    chunk->header.stored_bytes += (uint32_t)counts_bytes;
    chunk->header.flags |= TRACE_CHUNK_COUNTS;
    return 0;
}

int chunk_encoder_run(struct chunk_encoder *encoder, const struct chunk_contents *contents,
                      struct encoded_chunk *chunk_out)
{
    struct encoded_chunk chunk = {
        .header =
            {
                .magic = TRACE_CHUNK_MAGIC,
                .flags = contents->unpacked_bytes != 0 ? TRACE_CHUNK_PACKED : 0,
                .stored_bytes = (uint32_t)contents->size_bytes,
                .raw_bytes =
                    (uint32_t)(contents->unpacked_bytes != 0 ? contents->unpacked_bytes : contents->size_bytes),
                .first_time = contents->first_time,
                .last_time = contents->last_time,
                .lost_before = contents->lost_before,
            },
        .stored = contents->bytes,
        .record_count = contents->record_count,
    };
    int result;

    if (contents->size_bytes > TRACE_CHUNK_BYTES_MAX || contents->unpacked_bytes > TRACE_CHUNK_BYTES_MAX ||
        (contents->unpacked_bytes != 0 && contents->unpacked_bytes <= contents->size_bytes) ||
        contents->mark_count > TRACE_MARKS_MAX)
        return -EINVAL;
    result = pack_stored(encoder, contents, &chunk);
    if (result == 0)
        result = compress_stored(encoder, &chunk);
    if (result == 0)
        result = put_counts(encoder, contents, &chunk);
    if (result != 0)
        return result;
    chunk.header.data_crc = crc32c(0, chunk.stored, chunk.header.stored_bytes);
    *chunk_out = chunk;
    return 0;
}

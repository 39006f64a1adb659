/* SPDX-License-Identifier: MIT */
/* A step that makes nothing smaller is left out: its flag says so. */
#include "trace/chunk_encoder.h"

#include "trace/compression.h"
#include "trace/crc32c.h"

#include <errno.h>
#include <stdlib.h>

struct chunk_encoder {
    struct compressor *compressor; /* NULL: none */
};

int chunk_encoder_create(bool compress, struct chunk_encoder **encoder_out)
{
    struct chunk_encoder *encoder = calloc(1, sizeof(*encoder));
    int result = encoder == NULL ? -ENOMEM : 0;

    if (result == 0 && compress)
        result = compressor_create(&encoder->compressor);
    if (result != 0) {
        free(encoder);
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
    free(encoder);
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

int chunk_encoder_run(struct chunk_encoder *encoder, const struct stream_piece *piece, struct encoded_chunk *chunk_out)
{
    struct encoded_chunk chunk = {
        .header =
            {
                .magic = TRACE_CHUNK_MAGIC,
                .stored_bytes = (uint32_t)piece->size_bytes,
                .raw_bytes = (uint32_t)piece->size_bytes,
                .first_time = piece->first_time,
                .last_time = piece->last_time,
                .lost_before = piece->lost_before,
            },
        .stored = piece->bytes,
    };
    int result = piece->size_bytes > TRACE_CHUNK_BYTES_MAX ? -EINVAL : compress_stored(encoder, &chunk);

    if (result != 0)
        return result;
    chunk.header.data_crc = crc32c(0, chunk.stored, chunk.header.stored_bytes);
    *chunk_out = chunk;
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * liblzma: searches in binary trees when compressing, a range coder with one hardly predictable branch for each bit
 * when decompressing. The dictionary is as large as the data needs: a larger one would only measure how memory is
 * cleared.
 */
#include "support/codec.h"

#include <errno.h>
#include <lzma.h>

#define DICTIONARY_BYTES (1u << 20)
#define MEMORY_LIMIT     UINT64_MAX

static size_t bound(size_t size_bytes)
{
    return lzma_stream_buffer_bound(size_bytes);
}

static int pack(const struct codec_buffer *plain, struct codec_buffer *packed_out)
{
    lzma_options_lzma options;
    lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};
    size_t size_bytes = 0;

    if (lzma_lzma_preset(&options, LZMA_PRESET_DEFAULT))
        return -EIO;
    options.dict_size = DICTIONARY_BYTES;
    if (lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC64, NULL, plain->bytes, plain->size_bytes, packed_out->bytes,
                                  &size_bytes, packed_out->capacity_bytes) != LZMA_OK)
        return -EIO;
    packed_out->size_bytes = size_bytes;
    return 0;
}

static int unpack(const struct codec_buffer *packed, struct codec_buffer *plain_out)
{
    uint64_t memory_limit = MEMORY_LIMIT;
    size_t read_bytes = 0, size_bytes = 0;

    if (lzma_stream_buffer_decode(&memory_limit, 0, NULL, packed->bytes, &read_bytes, packed->size_bytes,
                                  plain_out->bytes, &size_bytes, plain_out->capacity_bytes) != LZMA_OK)
        return -EIO;
    plain_out->size_bytes = size_bytes;
    return 0;
}

static const struct codec codec = {
    .compress_effort = {350000, 1},
    .decompress_effort = {1000000, 8},
    .bound = bound,
    .compress = pack,
    .decompress = unpack,
};

const struct workload workload_lzma_compress = {
    .name = "lzma_compress",
    .subject = &codec,
    .prepare = codec_prepare_compress,
    .run = codec_run_compress,
    .discard = codec_discard,
};

const struct workload workload_lzma_decompress = {
    .name = "lzma_decompress",
    .subject = &codec,
    .prepare = codec_prepare_decompress,
    .run = codec_run_decompress,
    .expect = codec_expect_decompress,
    .discard = codec_discard,
};

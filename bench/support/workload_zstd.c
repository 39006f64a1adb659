/* SPDX-License-Identifier: MIT */
/* zstd at its usual level: code that is specialized by many variants and, when decompressing, bound by memory. */
#include "support/codec.h"

#include <errno.h>
#include <zstd.h>

#define LEVEL 3

static size_t bound(size_t size_bytes)
{
    return ZSTD_compressBound(size_bytes);
}

static int pack(const struct codec_buffer *plain, struct codec_buffer *packed_out)
{
    size_t size_bytes =
        ZSTD_compress(packed_out->bytes, packed_out->capacity_bytes, plain->bytes, plain->size_bytes, LEVEL);

    if (ZSTD_isError(size_bytes))
        return -EIO;
    packed_out->size_bytes = size_bytes;
    return 0;
}

static int unpack(const struct codec_buffer *packed, struct codec_buffer *plain_out)
{
    size_t size_bytes = ZSTD_decompress(plain_out->bytes, plain_out->capacity_bytes, packed->bytes, packed->size_bytes);

    if (ZSTD_isError(size_bytes))
        return -EIO;
    plain_out->size_bytes = size_bytes;
    return 0;
}

static const struct codec codec = {
    .compress_effort = {3000000, 8},
    .decompress_effort = {3000000, 34},
    .bound = bound,
    .compress = pack,
    .decompress = unpack,
};

const struct workload workload_zstd_compress = {
    .name = "zstd_compress",
    .subject = &codec,
    .prepare = codec_prepare_compress,
    .run = codec_run_compress,
    .discard = codec_discard,
};

const struct workload workload_zstd_decompress = {
    .name = "zstd_decompress",
    .subject = &codec,
    .prepare = codec_prepare_decompress,
    .run = codec_run_decompress,
    .expect = codec_expect_decompress,
    .discard = codec_discard,
};

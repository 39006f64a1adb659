/* SPDX-License-Identifier: MIT */
/* zlib at its usual level: tight loops over bytes, with branches that depend on the data. */
#include "support/codec.h"

#include <errno.h>
#include <zlib.h>

static size_t bound(size_t size_bytes)
{
    return compressBound(size_bytes);
}

static int pack(const struct codec_buffer *plain, struct codec_buffer *packed_out)
{
    uLongf size_bytes = packed_out->capacity_bytes;

    if (compress2(packed_out->bytes, &size_bytes, plain->bytes, plain->size_bytes, 6) != Z_OK)
        return -EIO;
    packed_out->size_bytes = size_bytes;
    return 0;
}

static int unpack(const struct codec_buffer *packed, struct codec_buffer *plain_out)
{
    uLongf size_bytes = plain_out->capacity_bytes;

    if (uncompress(plain_out->bytes, &size_bytes, packed->bytes, packed->size_bytes) != Z_OK)
        return -EIO;
    plain_out->size_bytes = size_bytes;
    return 0;
}

static const struct codec codec = {
    .compress_effort = {1600000, 1},
    .decompress_effort = {4000000, 8},
    .bound = bound,
    .compress = pack,
    .decompress = unpack,
};

const struct workload workload_zlib_compress = {
    .name = "zlib_compress",
    .subject = &codec,
    .prepare = codec_prepare_compress,
    .run = codec_run_compress,
    .discard = codec_discard,
};

const struct workload workload_zlib_decompress = {
    .name = "zlib_decompress",
    .subject = &codec,
    .prepare = codec_prepare_decompress,
    .run = codec_run_decompress,
    .expect = codec_expect_decompress,
    .discard = codec_discard,
};

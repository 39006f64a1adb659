/* SPDX-License-Identifier: MIT */
/* bzip2: sorting and Huffman coding of blocks, whose accesses jump about in some megabytes of memory. */
#include "support/codec.h"

#include <bzlib.h>
#include <errno.h>

#define BLOCK_100K 9

/* As its manual says. */
static size_t bound(size_t size_bytes)
{
    return size_bytes + size_bytes / 100 + 600;
}

static int pack(const struct codec_buffer *plain, struct codec_buffer *packed_out)
{
    unsigned size_bytes = (unsigned)packed_out->capacity_bytes;

    if (BZ2_bzBuffToBuffCompress((char *)packed_out->bytes, &size_bytes, (char *)plain->bytes,
                                 (unsigned)plain->size_bytes, BLOCK_100K, 0, 0) != BZ_OK)
        return -EIO;
    packed_out->size_bytes = size_bytes;
    return 0;
}

static int unpack(const struct codec_buffer *packed, struct codec_buffer *plain_out)
{
    unsigned size_bytes = (unsigned)plain_out->capacity_bytes;

    if (BZ2_bzBuffToBuffDecompress((char *)plain_out->bytes, &size_bytes, (char *)packed->bytes,
                                   (unsigned)packed->size_bytes, 0, 0) != BZ_OK)
        return -EIO;
    plain_out->size_bytes = size_bytes;
    return 0;
}

static const struct codec codec = {
    .compress_effort = {1400000, 1},
    .decompress_effort = {3000000, 1},
    .bound = bound,
    .compress = pack,
    .decompress = unpack,
};

const struct workload workload_bzip2_compress = {
    .name = "bzip2_compress",
    .subject = &codec,
    .prepare = codec_prepare_compress,
    .run = codec_run_compress,
    .discard = codec_discard,
};

const struct workload workload_bzip2_decompress = {
    .name = "bzip2_decompress",
    .subject = &codec,
    .prepare = codec_prepare_decompress,
    .run = codec_run_decompress,
    .expect = codec_expect_decompress,
    .discard = codec_discard,
};

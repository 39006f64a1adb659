/* SPDX-License-Identifier: MIT */
/* For builds without libzstd: nothing is compressed, and what is cannot be read. */
#include "trace/compression.h"

#include <errno.h>

int compressor_create(struct compressor **compressor_out)
{
    (void)compressor_out;
    return -EOPNOTSUPP;
}

void compressor_destroy(struct compressor *compressor)
{
    (void)compressor;
}

int compressor_run(struct compressor *compressor, const void *bytes, size_t size_bytes, const void **result_out,
                   size_t *result_bytes_out)
{
    (void)compressor;
    (void)bytes;
    (void)size_bytes;
    (void)result_out;
    (void)result_bytes_out;
    return -EOPNOTSUPP;
}

int compression_size(const void *bytes, size_t size_bytes, uint64_t *result_bytes_out)
{
    (void)bytes;
    (void)size_bytes;
    (void)result_bytes_out;
    return -EOPNOTSUPP;
}

int compression_undo(const void *bytes, size_t size_bytes, void *result, size_t result_bytes)
{
    (void)bytes;
    (void)size_bytes;
    (void)result;
    (void)result_bytes;
    return -EOPNOTSUPP;
}

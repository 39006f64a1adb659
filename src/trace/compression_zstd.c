/* SPDX-License-Identifier: MIT */
/* zstd at a fast level: the recorder shares the machine with what it records. The buffer grows with the largest piece.
 */
#include "trace/compression.h"

#include "hosted/growing_array.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#define LEVEL 1

struct compressor {
    ZSTD_CCtx *context;
    void *buffer;
    size_t buffer_bytes;
};

int compressor_create(struct compressor **compressor_out)
{
    struct compressor *compressor = calloc(1, sizeof(*compressor));

    if (compressor == NULL)
        return -ENOMEM;
    compressor->context = ZSTD_createCCtx();
    if (compressor->context == NULL) {
        free(compressor);
        return -ENOMEM;
    }
    *compressor_out = compressor;
    return 0;
}

void compressor_destroy(struct compressor *compressor)
{
    if (compressor == NULL)
        return;
    ZSTD_freeCCtx(compressor->context);
    free(compressor->buffer);
    free(compressor);
}

int compressor_run(struct compressor *compressor, const void *bytes, size_t size_bytes, const void **result_out,
                   size_t *result_bytes_out)
{
    if (growing_array_reserve(&compressor->buffer, &compressor->buffer_bytes, size_bytes, 1) != 0)
        return -ENOMEM;

    /* What does not fit is not smaller. */
    size_t made =
        ZSTD_compressCCtx(compressor->context, compressor->buffer, compressor->buffer_bytes, bytes, size_bytes, LEVEL);

    if (ZSTD_isError(made) || made >= size_bytes)
        return -E2BIG;
    *result_out = compressor->buffer;
    *result_bytes_out = made;
    return 0;
}

int compression_size(const void *bytes, size_t size_bytes, uint64_t *result_bytes_out)
{
    unsigned long long size = ZSTD_getFrameContentSize(bytes, size_bytes);

    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR)
        return -EPROTO;
    *result_bytes_out = size;
    return 0;
}

int compression_undo(const void *bytes, size_t size_bytes, void *result, size_t result_bytes)
{
    size_t made = ZSTD_decompress(result, result_bytes, bytes, size_bytes);

    return ZSTD_isError(made) || made != result_bytes ? -EPROTO : 0;
}

/* SPDX-License-Identifier: MIT */
/* The result grows as it is needed: what it says to be long is not believed. */
#include "symbolize/xz.h"

#include "hosted/growing_array.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

/* More than any level of xz needs to unpack. */
#define MEMORY_BYTES_MAX (128u << 20)
#define PIECE_BYTES      (64u << 10)

static int error_of(lzma_ret result)
{
    switch (result) {
    case LZMA_STREAM_END:
        return 0;
    case LZMA_MEM_ERROR:
        return -ENOMEM;
    default:
        return -EPROTO;
    }
}

static int unpack(lzma_stream *stream, size_t bytes_max, uint8_t **bytes, size_t *size_out)
{
    lzma_ret result = LZMA_OK;
    size_t capacity = 0;

    while (result == LZMA_OK) {
        size_t used = (size_t)stream->total_out,
               wanted = used + PIECE_BYTES < bytes_max ? used + PIECE_BYTES : bytes_max;

        if (used == bytes_max)
            return -E2BIG;
        if (ARRAY_RESERVE(*bytes, capacity, wanted) != 0)
            return -ENOMEM;
        stream->next_out = *bytes + used;
        stream->avail_out = (capacity < bytes_max ? capacity : bytes_max) - used;
        result = lzma_code(stream, LZMA_FINISH);
    }
    *size_out = (size_t)stream->total_out;
    return error_of(result);
}

int xz_unpack(const uint8_t *bytes, size_t size_bytes, size_t bytes_max, uint8_t **result_out, size_t *result_bytes_out)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    uint8_t *unpacked = NULL;
    size_t unpacked_bytes = 0;
    int result;

    if (lzma_stream_decoder(&stream, MEMORY_BYTES_MAX, 0) != LZMA_OK)
        return -ENOMEM;
    stream.next_in = bytes;
    stream.avail_in = size_bytes;
    result = unpack(&stream, bytes_max, &unpacked, &unpacked_bytes);
    lzma_end(&stream);
    if (result != 0) {
        free(unpacked);
        return result;
    }
    *result_out = unpacked;
    *result_bytes_out = unpacked_bytes;
    return 0;
}

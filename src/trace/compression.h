/* SPDX-License-Identifier: MIT */
/*
 * Compressing and decompressing the bytes of chunks. compression_zstd.c does it with libzstd; a build without that
 * library (ZSTD=no) has compression_none.c instead, which refuses. One thread at a time for each compressor.
 */
#ifndef GAIT_TRACE_COMPRESSION_H
#define GAIT_TRACE_COMPRESSION_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>

struct compressor;

/* -ENOMEM; -EOPNOTSUPP: this build cannot compress. */
MUST_USE int compressor_create(struct compressor **compressor_out);
/* NULL is fine. */
void compressor_destroy(struct compressor *compressor);

/*
 * Compresses; the result is the compressor's, until it is used again. -ENOMEM; -E2BIG: it would not be smaller than
 * what it was made from.
 */
MUST_USE int compressor_run(struct compressor *compressor, const void *bytes, size_t size_bytes,
                            const void **result_out, size_t *result_bytes_out);

/* How much it says to be when it is decompressed. -EPROTO: it does not; -EOPNOTSUPP: this build cannot. */
MUST_USE int compression_size(const void *bytes, size_t size_bytes, uint64_t *result_bytes_out);

/* Decompresses into exactly result_bytes. -EPROTO: it is something else; -EOPNOTSUPP: this build cannot. */
MUST_USE int compression_undo(const void *bytes, size_t size_bytes, void *result, size_t result_bytes);

#endif

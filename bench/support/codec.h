/* SPDX-License-Identifier: MIT */
/*
 * A compression library as two workloads: compressing mixed data, and getting it back. A library describes itself in a
 * struct codec, which is the subject of both workloads; the functions here are their members.
 */
#ifndef GAIT_BENCH_CODEC_H
#define GAIT_BENCH_CODEC_H

#include "support/workload.h"

#include <stddef.h>
#include <stdint.h>

struct codec_buffer {
    uint8_t *bytes;
    size_t size_bytes; /* of the content */
    size_t capacity_bytes;
};

/* How much to do at full scale: the same data of that size, so many times. */
struct codec_effort {
    size_t size_bytes;
    unsigned passes;
};

struct codec {
    struct codec_effort compress_effort, decompress_effort;
    /* What compressing that much needs at most. */
    size_t (*bound)(size_t size_bytes);
    /* Replace the content of one buffer by that of the other, in its new form. Return 0, or -EIO if the library
     * refused. */
    int (*compress)(const struct codec_buffer *plain, struct codec_buffer *packed_out);
    int (*decompress)(const struct codec_buffer *packed, struct codec_buffer *plain_out);
};

/* The members of a workload that compresses. */
int codec_prepare_compress(const void *subject, unsigned scale_percent, void **state_out) MUST_USE;
uint64_t codec_run_compress(void *state);

/* The members of a workload that decompresses. What is expected is made from the data before it was compressed. */
int codec_prepare_decompress(const void *subject, unsigned scale_percent, void **state_out) MUST_USE;
uint64_t codec_run_decompress(void *state);
uint64_t codec_expect_decompress(const void *state);

/* Ends the state of either. */
void codec_discard(void *state);

#endif

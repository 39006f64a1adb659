/* SPDX-License-Identifier: MIT */
/*
 * Both workloads have the same state: data in its plain and in its packed form. One of the two is made by prepare and
 * never changes, the other is made anew by each pass.
 */
#include "support/codec.h"

#include "support/checksum.h"
#include "support/mixed_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DATA_SEED 0x5eed

struct codec_state {
    const struct codec *codec;
    unsigned passes;
    struct codec_buffer plain, packed;
    uint64_t plain_checksum;
};

static uint64_t checksum_of(const struct codec_buffer *buffer)
{
    return checksum_add_bytes(CHECKSUM_START, buffer->bytes, buffer->size_bytes);
}

/* Touches all of it, so that no run pays for the pages. */
static int buffer_init(struct codec_buffer *buffer, size_t capacity_bytes)
{
    buffer->bytes = malloc(capacity_bytes);
    if (buffer->bytes == NULL)
        return -ENOMEM;
    memset(buffer->bytes, 0, capacity_bytes);
    buffer->capacity_bytes = capacity_bytes;
    return 0;
}

static int fill(struct codec_state *state, size_t size_bytes)
{
    if (buffer_init(&state->plain, size_bytes) != 0 ||
        buffer_init(&state->packed, state->codec->bound(size_bytes)) != 0)
        return -ENOMEM;
    mixed_data_fill(DATA_SEED, state->plain.bytes, size_bytes);
    state->plain.size_bytes = size_bytes;
    state->plain_checksum = checksum_of(&state->plain);
    return 0;
}

/* A state that holds plain data, or NULL: there is not enough memory. */
static struct codec_state *create(const struct codec *codec, const struct codec_effort *effort, unsigned scale_percent)
{
    struct codec_state *state = calloc(1, sizeof(*state));

    if (state == NULL)
        return NULL;
    state->codec = codec;
    state->passes = effort->passes;
    if (fill(state, workload_scale(effort->size_bytes, scale_percent)) != 0) {
        codec_discard(state);
        return NULL;
    }
    return state;
}

int codec_prepare_compress(const void *subject, unsigned scale_percent, void **state_out)
{
    const struct codec *codec = subject;
    struct codec_state *state = create(codec, &codec->compress_effort, scale_percent);

    if (state == NULL)
        return -ENOMEM;
    *state_out = state;
    return 0;
}

uint64_t codec_run_compress(void *context)
{
    struct codec_state *state = context;
    uint64_t checksum = CHECKSUM_START;

    for (unsigned pass = 0; pass < state->passes; pass++) {
        if (state->codec->compress(&state->plain, &state->packed) != 0)
            return WORKLOAD_FAILED;
        checksum = checksum_add(checksum, checksum_of(&state->packed));
    }
    return checksum;
}

int codec_prepare_decompress(const void *subject, unsigned scale_percent, void **state_out)
{
    const struct codec *codec = subject;
    struct codec_state *state = create(codec, &codec->decompress_effort, scale_percent);

    if (state == NULL)
        return -ENOMEM;

    int error = codec->compress(&state->plain, &state->packed);

    if (error != 0) {
        codec_discard(state);
        return error;
    }
    /* A decompressor that does nothing must not find its result. */
    memset(state->plain.bytes, 0, state->plain.size_bytes);
    *state_out = state;
    return 0;
}

uint64_t codec_run_decompress(void *context)
{
    struct codec_state *state = context;
    uint64_t checksum = CHECKSUM_START;

    for (unsigned pass = 0; pass < state->passes; pass++) {
        if (state->codec->decompress(&state->packed, &state->plain) != 0)
            return WORKLOAD_FAILED;
        checksum = checksum_add(checksum, checksum_of(&state->plain));
    }
    return checksum;
}

uint64_t codec_expect_decompress(const void *context)
{
    const struct codec_state *state = context;
    uint64_t checksum = CHECKSUM_START;

    for (unsigned pass = 0; pass < state->passes; pass++)
        checksum = checksum_add(checksum, state->plain_checksum);
    return checksum;
}

void codec_discard(void *context)
{
    struct codec_state *state = context;

    if (state == NULL)
        return;
    free(state->plain.bytes);
    free(state->packed.bytes);
    free(state);
}

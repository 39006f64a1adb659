/* SPDX-License-Identifier: MIT */
#include "trace/compression.h"

#include "support/check.h"
#include "support/random.h"

#include <errno.h>

static struct compressor *compressor;
static uint8_t bytes[10000], back[10000];

static void what_was_compressed_comes_back(void)
{
    const void *made;
    size_t made_bytes;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i / 100);
    CHECK_EQUAL(compressor_run(compressor, bytes, sizeof(bytes), &made, &made_bytes), 0);
    CHECK(made_bytes < sizeof(bytes) / 4);
    CHECK_EQUAL(compression_undo(made, made_bytes, back, sizeof(back)), 0);
    CHECK(memcmp(bytes, back, sizeof(bytes)) == 0);
    /* Another size than it has is refused, and so is a part of it. */
    CHECK_EQUAL(compression_undo(made, made_bytes, back, sizeof(back) - 1), -EPROTO);
    CHECK_EQUAL(compression_undo(made, made_bytes - 1, back, sizeof(back)), -EPROTO);
}

static void what_does_not_get_smaller_is_refused(void)
{
    struct random random;
    const void *made;
    size_t made_bytes;

    random_init(&random, 3);
    random_fill(&random, bytes, sizeof(bytes));
    CHECK_EQUAL(compressor_run(compressor, bytes, sizeof(bytes), &made, &made_bytes), -E2BIG);
    CHECK_EQUAL(compressor_run(compressor, bytes, 1, &made, &made_bytes), -E2BIG);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_was_compressed_comes_back),
    CHECK_CASE(what_does_not_get_smaller_is_refused),
};

int main(void)
{
    int result;

    if (compressor_create(&compressor) != 0)
        check_skip("this build has no libzstd");
    result = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    compressor_destroy(compressor);
    return result;
}

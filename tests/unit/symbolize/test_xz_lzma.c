/* SPDX-License-Identifier: MIT */
#include "symbolize/xz.h"

#include "support/check.h"
#include "support/random.h"

#include <errno.h>
#include <lzma.h>

#define PLAIN_BYTES  300000u
#define PACKED_BYTES 400000u

static uint8_t plain[PLAIN_BYTES], packed[PACKED_BYTES];
static size_t packed_bytes;

static void pack(void)
{
    for (size_t i = 0; i < sizeof(plain); i++)
        plain[i] = (uint8_t)(i / 7 % 251);
    packed_bytes = 0;
    CHECK_EQUAL(
        lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, plain, sizeof(plain), packed, &packed_bytes, sizeof(packed)),
        LZMA_OK);
}

static void what_was_packed_is_unpacked(void)
{
    uint8_t *result = NULL;
    size_t result_bytes = 0;

    pack();
    CHECK_EQUAL(xz_unpack(packed, packed_bytes, sizeof(plain), &result, &result_bytes), 0);
    CHECK_EQUAL(result_bytes, sizeof(plain));
    CHECK(result != NULL && memcmp(result, plain, sizeof(plain)) == 0);
    free(result);
}

static void what_is_too_long_is_refused(void)
{
    uint8_t *result = NULL;
    size_t result_bytes = 0;

    pack();
    CHECK_EQUAL(xz_unpack(packed, packed_bytes, sizeof(plain) - 1, &result, &result_bytes), -E2BIG);
    CHECK(result == NULL);
}

static void damage_is_noticed(void)
{
    struct random random;

    pack();
    random_init(&random, 14);
    for (size_t cut = 0; cut < packed_bytes; cut += 1 + packed_bytes / 50) {
        uint8_t *result = NULL;
        size_t result_bytes = 0;

        CHECK_EQUAL(xz_unpack(packed, cut, sizeof(plain) + 1, &result, &result_bytes), -EPROTO);
    }
    for (unsigned round = 0; round < 300; round++) {
        uint64_t at = random_below(&random, packed_bytes);
        uint8_t *result = NULL, bit = (uint8_t)(1u << random_below(&random, 8));
        size_t result_bytes = 0;

        packed[at] ^= bit;
        CHECK(xz_unpack(packed, packed_bytes, 2 * sizeof(plain), &result, &result_bytes) != 0);
        CHECK(result == NULL);
        packed[at] ^= bit;
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(what_was_packed_is_unpacked),
    CHECK_CASE(what_is_too_long_is_refused),
    CHECK_CASE(damage_is_noticed),
};

CHECK_MAIN(cases)

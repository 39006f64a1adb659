/* SPDX-License-Identifier: MIT */
/* A multiplication and a shift for each eight bytes. */
#include "support/checksum.h"

#include <string.h>

static uint64_t mix(uint64_t checksum, uint64_t word)
{
    checksum = (checksum ^ word) * UINT64_C(0x9fb21c651e98df25);
    return checksum ^ checksum >> 32;
}

uint64_t checksum_add(uint64_t checksum, uint64_t number)
{
    return mix(checksum, number);
}

uint64_t checksum_add_bytes(uint64_t checksum, const void *bytes, size_t size_bytes)
{
    const uint8_t *at = bytes;
    size_t left = size_bytes;
    uint64_t word;

    for (; left >= sizeof(word); left -= sizeof(word), at += sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        checksum = mix(checksum, word);
    }
    word = 0;
    if (left > 0)
        memcpy(&word, at, left);
    return mix(mix(checksum, word), size_bytes);
}

/* SPDX-License-Identifier: MIT */
/*
 * Bytes to look for, some of which may be any: "48 8b ?? 0f", "4? ?5" with half bytes, or bytes and a mask "48 8b 00 0f
 * : ff ff 00 ff". No memory but the caller's, no locks, no libc; usable anywhere.
 */
#ifndef GAIT_PROCESS_MEMORY_PATTERN_H
#define GAIT_PROCESS_MEMORY_PATTERN_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>

#define MEMORY_PATTERN_BYTES_MAX 256u

struct memory_pattern {
    size_t size_bytes;
    size_t anchor; /* where the longest part without wildcards begins */
    size_t anchor_bytes;
    uint8_t bytes[MEMORY_PATTERN_BYTES_MAX];
    uint8_t masks[MEMORY_PATTERN_BYTES_MAX];
    uint8_t skips[256]; /* how far to go on if the anchor's last place has that byte */
};

/*
 * Spaces may be anywhere but inside of a byte. -EINVAL: something else is in there, or it is empty; -ENODATA: nothing
 * in it is known; -E2BIG: too long.
 */
MUST_USE int memory_pattern_parse(const char *text, size_t length, struct memory_pattern *pattern_out);

/* The same of bytes that are all known. -EINVAL, -E2BIG. */
MUST_USE int memory_pattern_of_bytes(const void *bytes, size_t size_bytes, struct memory_pattern *pattern_out);

/* Where it is found first, from `start` on, and whole; size_bytes: nowhere. */
size_t memory_pattern_find(const struct memory_pattern *pattern, const uint8_t *bytes, size_t size_bytes, size_t start);

#endif

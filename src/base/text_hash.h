/* SPDX-License-Identifier: MIT */
/* Hashes of texts: FNV-1a, of 64 bits. Names of files are made of them, so they never change. Usable anywhere. */
#ifndef GAIT_BASE_TEXT_HASH_H
#define GAIT_BASE_TEXT_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t text_hash_of(const char *text, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3u;
    return hash;
}

/* Of a text that a NUL ends. */
static inline uint64_t text_hash(const char *text)
{
    return text_hash_of(text, __builtin_strlen(text));
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Copying, filling and comparing, eight bytes at a time through unaligned words, which all our CPUs do at full speed.
 * Invariant: no loop in here may be turned into a call to the function that it is in, as compilers like to do; hence
 * PLAIN_LOOPS. For images without libc only.
 */
#include "base/memory_functions.h"

#include <stdint.h>

#ifdef __clang__
#define PLAIN_LOOPS __attribute__((no_builtin))
#else
#define PLAIN_LOOPS __attribute__((optimize("no-tree-loop-distribute-patterns")))
#endif

/* Eight bytes at any address, whatever their type. */
struct word {
    uint64_t bits;
} __attribute__((packed, may_alias));

#define WORD sizeof(struct word)

static inline uint64_t word_load(const uint8_t *place)
{
    return ((const struct word *)place)->bits;
}

static inline void word_store(uint8_t *place, uint64_t bits)
{
    ((struct word *)place)->bits = bits;
}

struct half {
    uint32_t bits;
} __attribute__((packed, may_alias));

#define HALF sizeof(struct half)

static inline uint32_t half_load(const uint8_t *place)
{
    return ((const struct half *)place)->bits;
}

static inline void half_store(uint8_t *place, uint32_t bits)
{
    ((struct half *)place)->bits = bits;
}

/* Four words at a time, as often as they fit: so many bytes. Also right when `to` lies below `from` in the same bytes.
 */
PLAIN_LOOPS static inline size_t copy_fours(uint8_t *to, const uint8_t *from, size_t size)
{
    size_t i = 0;

    for (; size - i >= 4 * WORD; i += 4 * WORD) {
        uint64_t first = word_load(from + i);
        uint64_t second = word_load(from + i + WORD);
        uint64_t third = word_load(from + i + 2 * WORD);
        uint64_t fourth = word_load(from + i + 3 * WORD);

        word_store(to + i, first);
        word_store(to + i + WORD, second);
        word_store(to + i + 2 * WORD, third);
        word_store(to + i + 3 * WORD, fourth);
    }
    return i;
}

/* Also right when `to` lies below `from` in the same bytes. */
PLAIN_LOOPS static inline void copy_upwards(uint8_t *to, const uint8_t *from, size_t size)
{
    size_t i = copy_fours(to, from, size);

    for (; size - i >= WORD; i += WORD)
        word_store(to + i, word_load(from + i));
    for (; i < size; i++)
        to[i] = from[i];
}

PLAIN_LOOPS static inline void copy_downwards(uint8_t *to, const uint8_t *from, size_t size)
{
    for (; size >= WORD; size -= WORD)
        word_store(to + size - WORD, word_load(from + size - WORD));
    for (; size > 0; size--)
        to[size - 1] = from[size - 1];
}

/* Up to two words, in at most two pieces that may overlap: most copies are of an instruction. */
static inline void copy_little(uint8_t *to, const uint8_t *from, size_t size)
{
    if (size >= WORD) {
        uint64_t first = word_load(from), last = word_load(from + size - WORD);

        word_store(to, first);
        word_store(to + size - WORD, last);
    } else if (size >= HALF) {
        uint32_t first = half_load(from), last = half_load(from + size - HALF);

        half_store(to, first);
        half_store(to + size - HALF, last);
    } else if (size != 0) {
        uint8_t first = from[0], middle = from[size / 2], last = from[size - 1];

        to[0] = first;
        to[size / 2] = middle;
        to[size - 1] = last;
    }
}

/* More than a word, of bytes that do not overlap: the last piece may begin in the one before it. */
PLAIN_LOOPS static inline void copy_apart(uint8_t *to, const uint8_t *from, size_t size)
{
    uint64_t last = word_load(from + size - WORD);
    size_t i = copy_fours(to, from, size);

    for (; size - i > WORD; i += WORD)
        word_store(to + i, word_load(from + i));
    word_store(to + size - WORD, last);
}

PLAIN_LOOPS void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    if (size <= 2 * WORD)
        copy_little(to, from, size);
    else
        copy_apart(to, from, size);
    return to;
}

PLAIN_LOOPS void *memmove(void *to, const void *from, size_t size)
{
    /* One comparison for both harmless cases: `to` is below `from`, or behind its last byte. */
    if ((uintptr_t)to - (uintptr_t)from >= size)
        copy_upwards(to, from, size);
    else
        copy_downwards(to, from, size);
    return to;
}

PLAIN_LOOPS void *memset(void *to, int value, size_t size)
{
    uint8_t *bytes = to;
    uint64_t bits = (uint8_t)value * 0x0101010101010101ull;
    size_t i = 0;

    for (; size - i >= WORD; i += WORD)
        word_store(bytes + i, bits);
    for (; i < size; i++)
        bytes[i] = (uint8_t)value;
    return to;
}

PLAIN_LOOPS int memcmp(const void *left, const void *right, size_t size)
{
    const uint8_t *a = left, *b = right;
    size_t i = 0;

    while (size - i >= WORD && word_load(a + i) == word_load(b + i))
        i += WORD;
    for (; i < size; i++) {
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    }
    return 0;
}

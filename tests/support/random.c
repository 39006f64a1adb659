/* SPDX-License-Identifier: MIT */
/*
 * xoshiro256** whose state is filled by splitmix64. Changing anything here changes what every recorded seed means:
 * test_random.c holds the sequences.
 */
#include "support/random.h"

#include <string.h>

static uint64_t splitmix(uint64_t *state)
{
    uint64_t mixed = *state += 0x9e3779b97f4a7c15;

    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
}

static uint64_t rotate_left(uint64_t value, unsigned count)
{
    return value << count | value >> (64 - count);
}

void random_init(struct random *random, uint64_t seed)
{
    for (unsigned i = 0; i < 4; i++)
        random->word[i] = splitmix(&seed);
}

uint64_t random_seed_derive(uint64_t batch_seed, uint64_t number)
{
    uint64_t state = splitmix(&batch_seed) ^ number;

    return splitmix(&state);
}

uint64_t random_u64(struct random *random)
{
    uint64_t *word = random->word;
    uint64_t result = rotate_left(word[1] * 5, 7) * 9;
    uint64_t shifted = word[1] << 17;

    word[2] ^= word[0];
    word[3] ^= word[1];
    word[1] ^= word[2];
    word[0] ^= word[3];
    word[2] ^= shifted;
    word[3] = rotate_left(word[3], 45);
    return result;
}

uint64_t random_below(struct random *random, uint64_t limit)
{
    return (uint64_t)(((unsigned __int128)random_u64(random) * limit) >> 64);
}

bool random_chance(struct random *random, uint32_t numerator, uint32_t denominator)
{
    return random_below(random, denominator) < numerator;
}

uint64_t random_edge(struct random *random)
{
    static const uint64_t limits[] = {
        0,
        1,
        2,
        0x7f,
        0x80,
        0xff,
        0x100,
        0x7fff,
        0x8000,
        0xffff,
        0x10000,
        0x7fffffff,
        0x80000000,
        0xffffffff,
        1ull << 32,
        1ull << 47,
        1ull << 63,
        ~0ull >> 1,
        ~0ull,
        ~1ull,
        0xffffffff80000000,
        0x3f,
        0x40,
        0x1f,
        0x20,
        0x5555555555555555,
        0xaaaaaaaaaaaaaaaa,
    };
    uint64_t power = 1ull << random_below(random, 64);

    switch (random_below(random, 5)) {
    case 0:
        return power;
    case 1:
        return power - 1;
    case 2:
        return 0 - power;
    default:
        return limits[random_below(random, sizeof(limits) / sizeof(limits[0]))];
    }
}

void random_fill(struct random *random, void *bytes, size_t size_bytes)
{
    uint8_t *at = bytes;

    while (size_bytes > 0) {
        uint64_t word = random_u64(random);
        size_t count = size_bytes < sizeof(word) ? size_bytes : sizeof(word);

        memcpy(at, &word, count);
        at += count;
        size_bytes -= count;
    }
}

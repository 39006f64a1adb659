/* SPDX-License-Identifier: MIT */
/*
 * A sequence of pieces of random kind and length. Prose takes its words from a vocabulary in which early words are far
 * more frequent than late ones, as in a language. Whatever does not fit any more is cut off.
 */
#include "support/mixed_data.h"

#include "support/random.h"

#include <string.h>

#define VOCABULARY 600
#define MAX_WORD   16

struct mixture {
    struct random random;
    uint8_t *bytes;
    size_t used, capacity;
    char words[VOCABULARY][MAX_WORD];
};

static void append(struct mixture *mixture, const void *bytes, size_t size_bytes)
{
    size_t room = mixture->capacity - mixture->used;
    size_t count = size_bytes < room ? size_bytes : room;

    memcpy(mixture->bytes + mixture->used, bytes, count);
    mixture->used += count;
}

static void invent_words(struct mixture *mixture)
{
    static const char syllables[][4] = {"ta", "re", "mi", "son", "el", "ker", "va", "ing", "do", "tion", "an", "sh"};

    for (size_t i = 0; i < VOCABULARY; i++) {
        char *word = mixture->words[i];
        size_t length = 0, count = 1 + random_below(&mixture->random, 3);

        for (size_t j = 0; j < count; j++) {
            const char *syllable = syllables[random_below(&mixture->random, sizeof(syllables) / sizeof(syllables[0]))];
            size_t size = strnlen(syllable, sizeof(syllables[0]));

            memcpy(word + length, syllable, size);
            length += size;
        }
        word[length] = '\0';
    }
}

static void append_prose(struct mixture *mixture, size_t size_bytes)
{
    size_t end = mixture->used + size_bytes;

    while (mixture->used < end && mixture->used < mixture->capacity) {
        uint64_t rank = random_below(&mixture->random, 1 + random_below(&mixture->random, VOCABULARY));
        const char *word = mixture->words[rank];
        const char *gap = random_chance(&mixture->random, 1, 9) ? ",\n" : " ";

        append(mixture, word, strlen(word));
        append(mixture, gap, strlen(gap));
    }
}

static void append_records(struct mixture *mixture, size_t size_bytes)
{
    struct {
        uint32_t number, offset;
        uint16_t kind, flags;
        int32_t amount;
    } record = {.number = (uint32_t)random_below(&mixture->random, 100000)};

    for (size_t i = 0; i < size_bytes / sizeof(record); i++) {
        record.number++;
        record.offset += 16 + (uint32_t)random_below(&mixture->random, 64);
        record.kind = (uint16_t)random_below(&mixture->random, 5);
        record.flags = random_chance(&mixture->random, 1, 8) ? 0x8001 : 0;
        record.amount = (int32_t)random_below(&mixture->random, 2000) - 1000;
        append(mixture, &record, sizeof(record));
    }
}

/* Up to 256 KiB back, with a changed byte in each 128 or so. */
static void append_near_copy(struct mixture *mixture, size_t size_bytes)
{
    size_t reach = mixture->used < 262144 ? mixture->used : 262144;
    size_t distance = size_bytes + random_below(&mixture->random, reach);

    if (distance > mixture->used)
        return;

    size_t start = mixture->used;

    append(mixture, mixture->bytes + start - distance, size_bytes);
    for (size_t at = start + random_below(&mixture->random, 256); at < mixture->used;
         at += 1 + random_below(&mixture->random, 256))
        mixture->bytes[at] ^= (uint8_t)(1 + random_below(&mixture->random, 255));
}

static void append_noise(struct mixture *mixture, size_t size_bytes)
{
    uint8_t noise[512];
    size_t count = size_bytes < sizeof(noise) ? size_bytes : sizeof(noise);

    random_fill(&mixture->random, noise, count);
    append(mixture, noise, count);
}

static void append_piece(struct mixture *mixture)
{
    size_t size_bytes = 200 + random_below(&mixture->random, 4000);

    switch (random_below(&mixture->random, 12)) {
    case 0:
        append_noise(mixture, size_bytes);
        break;
    case 1:
    case 2:
        append_near_copy(mixture, size_bytes);
        break;
    case 3:
    case 4:
    case 5:
    case 6:
        append_records(mixture, size_bytes);
        break;
    default:
        append_prose(mixture, size_bytes);
        break;
    }
}

void mixed_data_fill(uint64_t seed, uint8_t *bytes, size_t size_bytes)
{
    struct mixture mixture = {.bytes = bytes, .capacity = size_bytes};

    random_init(&mixture.random, seed);
    invent_words(&mixture);
    while (mixture.used < mixture.capacity)
        append_piece(&mixture);
}

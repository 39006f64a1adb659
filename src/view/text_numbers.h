/* SPDX-License-Identifier: MIT */
/* Texts, numbered from 0 on in the order in which they come. One thread at a time. */
#ifndef GAIT_VIEW_TEXT_NUMBERS_H
#define GAIT_VIEW_TEXT_NUMBERS_H

#include "base/attributes.h"
#include "base/hash_map.h"

#include <stddef.h>
#include <stdint.h>

struct numbered_text {
    char *text;
    uint64_t next; /* another one with the same hash; UINT64_MAX: none */
};

struct text_numbers {
    struct hash_map hashes; /* -> the last of its texts */
    struct numbered_text *texts;
    size_t count;
    size_t capacity;
};

/* -ENOMEM. */
MUST_USE int text_numbers_init(struct text_numbers *numbers);
void text_numbers_deinit(struct text_numbers *numbers);

/* The number of a text, which is copied if it is a new one. -ENOMEM. */
MUST_USE int text_numbers_obtain(struct text_numbers *numbers, const char *text, size_t *number_out);

/* Good until the numbers go. */
static inline const char *text_numbers_at(const struct text_numbers *numbers, size_t number)
{
    return numbers->texts[number].text;
}

#endif

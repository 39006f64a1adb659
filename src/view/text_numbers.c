/* SPDX-License-Identifier: MIT */
#include "view/text_numbers.h"

#include "base/text_hash.h"
#include "hosted/growing_array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS_AT_FIRST 64u
#define NO_TEXT        UINT64_MAX

int text_numbers_init(struct text_numbers *numbers)
{
    *numbers = (struct text_numbers){.count = 0};
    return hash_map_init(&numbers->hashes, TEXTS_AT_FIRST);
}

void text_numbers_deinit(struct text_numbers *numbers)
{
    for (size_t i = 0; i < numbers->count; i++)
        free(numbers->texts[i].text);
    free(numbers->texts);
    hash_map_deinit(&numbers->hashes);
}

static int add(struct text_numbers *numbers, uint64_t hash, uint64_t next, const char *text)
{
    int result = ARRAY_RESERVE(numbers->texts, numbers->capacity, numbers->count + 1);
    char *copy = result == 0 ? strdup(text) : NULL;

    if (copy == NULL)
        return -ENOMEM;
    result = hash_map_set(&numbers->hashes, hash, numbers->count);
    if (result != 0) {
        free(copy);
        return result;
    }
    /* Nobody else looks. */
    hash_map_reclaim(&numbers->hashes);
    numbers->texts[numbers->count++] = (struct numbered_text){copy, next};
    return 0;
}

int text_numbers_obtain(struct text_numbers *numbers, const char *text, size_t *number_out)
{
    uint64_t hash = text_hash(text), first = NO_TEXT, at;
    int result;

    (void)hash_map_lookup(&numbers->hashes, hash, &first);
    for (at = first; at != NO_TEXT && strcmp(numbers->texts[at].text, text) != 0;)
        at = numbers->texts[at].next;
    if (at == NO_TEXT) {
        result = add(numbers, hash, first, text);
        if (result != 0)
            return result;
        at = numbers->count - 1;
    }
    *number_out = (size_t)at;
    return 0;
}

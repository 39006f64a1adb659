/* SPDX-License-Identifier: MIT */
#include "export/frame_texts.h"

#include "base/text_hash.h"
#include "hosted/growing_array.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_AT_FIRST 256u

int frame_texts_init(struct frame_texts *frames, struct view_functions *functions,
                     char *(*make)(const struct view_function *function))
{
    *frames = (struct frame_texts){.functions = functions, .make = make};
    return hash_map_init(&frames->by_hash, CAPACITY_AT_FIRST);
}

void frame_texts_deinit(struct frame_texts *frames)
{
    for (size_t i = 0; i < frames->count; i++)
        free(frames->texts[i]);
    free(frames->texts);
    free(frames->of_functions);
    hash_map_deinit(&frames->by_hash);
}

static uint32_t add(struct frame_texts *frames, const char *text, uint64_t key)
{
    if (frames->count >= FRAME_NONE || ARRAY_RESERVE(frames->texts, frames->capacity, frames->count + 1) != 0)
        return FRAME_NONE;
    frames->texts[frames->count] = strdup(text);
    if (frames->texts[frames->count] == NULL)
        return FRAME_NONE;
    if (hash_map_set(&frames->by_hash, key, frames->count) != 0) {
        free(frames->texts[frames->count]);
        return FRAME_NONE;
    }
    /* Nobody else looks. */
    hash_map_reclaim(&frames->by_hash);
    return (uint32_t)frames->count++;
}

uint32_t frame_texts_number(struct frame_texts *frames, const char *text)
{
    uint64_t key = text_hash(text), number;

    /* Another text with the same hash has taken the key: the next one is as good. */
    for (; hash_map_lookup(&frames->by_hash, key, &number); key++)
        if (strcmp(frames->texts[number], text) == 0)
            return (uint32_t)number;
    return add(frames, text, key);
}

uint32_t frame_texts_of_function(struct frame_texts *frames, uint32_t function)
{
    char *text;
    uint32_t number;

    if (function < frames->function_capacity && frames->of_functions[function] != 0)
        return frames->of_functions[function] - 1;
    text = ARRAY_RESERVE_ZEROED(frames->of_functions, frames->function_capacity, (size_t)function + 1) == 0
               ? frames->make(view_functions_at(frames->functions, function))
               : NULL;
    number = text == NULL ? FRAME_NONE : frame_texts_number(frames, text);
    free(text);
    if (number != FRAME_NONE)
        frames->of_functions[function] = number + 1;
    return number;
}

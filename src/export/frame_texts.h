/* SPDX-License-Identifier: MIT */
/*
 * Frames of stacks, numbered from 0 on: one for each text, however many functions have it. Memory grows with texts and
 * functions. One thread at a time.
 */
#ifndef GAIT_EXPORT_FRAME_TEXTS_H
#define GAIT_EXPORT_FRAME_TEXTS_H

#include "base/hash_map.h"
#include "view/view_functions.h"

#define FRAME_NONE UINT32_MAX

struct frame_texts {
    char **texts;
    size_t count;
    size_t capacity;
    struct hash_map by_hash; /* of the text -> its number */
    struct view_functions *functions;
    char *(*make)(const struct view_function *function);
    uint32_t *of_functions; /* number + 1; 0: not known yet */
    size_t function_capacity;
};

/* make: makes the text of a function's frame, to be freed; NULL: there is no memory. -ENOMEM. */
MUST_USE int frame_texts_init(struct frame_texts *frames, struct view_functions *functions,
                              char *(*make)(const struct view_function *function));
void frame_texts_deinit(struct frame_texts *frames);

/* The frame of a text, or of a function by its number. FRAME_NONE: there is no memory. */
uint32_t frame_texts_number(struct frame_texts *frames, const char *text);
uint32_t frame_texts_of_function(struct frame_texts *frames, uint32_t function);

#endif

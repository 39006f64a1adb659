/* SPDX-License-Identifier: MIT */
/*
 * The functions of a trace that patterns mean, told by their numbers. Each function is compared, and thereby named,
 * once. One thread at a time.
 */
#ifndef GAIT_VIEW_FUNCTION_CHOICE_H
#define GAIT_VIEW_FUNCTION_CHOICE_H

#include "view/view_functions.h"

struct function_choice {
    struct view_functions *functions;
    const char *const *patterns;
    size_t pattern_count;
    size_t matched_count; /* functions that were asked for, and are meant */
    uint8_t *answers;     /* by number */
    size_t answer_count;
};

/* Functions and patterns must outlive it. Takes no memory yet. */
void function_choice_init(struct function_choice *choice, struct view_functions *functions, const char *const *patterns,
                          size_t pattern_count);
void function_choice_deinit(struct function_choice *choice);

/* Whether the function with that number is meant; without patterns, none is. */
bool function_choice_has(struct function_choice *choice, uint32_t number);

#endif

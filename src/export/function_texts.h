/* SPDX-License-Identifier: MIT */
/*
 * A text for each function, made when it is first needed and kept: names are long, calls are many. Memory grows with
 * functions. One thread at a time.
 */
#ifndef GAIT_EXPORT_FUNCTION_TEXTS_H
#define GAIT_EXPORT_FUNCTION_TEXTS_H

#include "view/view_functions.h"

struct function_texts {
    struct view_functions *functions;
    char *(*make)(const struct view_function *function); /* to be freed; NULL: there is no memory */
    char **texts;
    size_t capacity;
};

void function_texts_init(struct function_texts *texts, struct view_functions *functions,
                         char *(*make)(const struct view_function *function));
void function_texts_deinit(struct function_texts *texts);

/* The text of a function by its number, good until the texts go; NULL: there is no memory. */
const char *function_texts_get(struct function_texts *texts, uint32_t function);

/* A text to make: the name, clean. */
char *function_texts_name(const struct view_function *function);

/* Makes: where it is in the source, as members of a JSON object, ,"file":"inflate.c","line":622; "": not known. */
char *function_texts_source(const struct view_function *function);

#endif

/* SPDX-License-Identifier: MIT */
#include "export/function_texts.h"
#include "hosted/growing_array.h"
#include "hosted/json_text.h"

#include "export/export_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void function_texts_init(struct function_texts *texts, struct view_functions *functions,
                         char *(*make)(const struct view_function *function))
{
    *texts = (struct function_texts){.functions = functions, .make = make};
}

void function_texts_deinit(struct function_texts *texts)
{
    for (size_t i = 0; i < texts->capacity; i++)
        free(texts->texts[i]);
    free(texts->texts);
}

const char *function_texts_get(struct function_texts *texts, uint32_t function)
{
    if (ARRAY_RESERVE_ZEROED(texts->texts, texts->capacity, (size_t)function + 1) != 0)
        return NULL;
    if (texts->texts[function] == NULL)
        texts->texts[function] = texts->make(view_functions_at(texts->functions, function));
    return texts->texts[function];
}

char *function_texts_name(const struct view_function *function)
{
    /* A byte becomes three at most. */
    size_t bytes = 3 * strlen(function->name) + 4;
    char *text = malloc(bytes);

    if (text != NULL)
        export_text_clean(text, bytes, function->name);
    return text;
}

char *function_texts_source(const struct view_function *function)
{
    static const char shape[] = ",\"file\":%s,\"line\":4294967295";
    char *file, *text;
    size_t bytes;

    if (function->file == NULL)
        return strdup("");
    file = json_text_make(JSON_CLEAN, function->file);
    bytes = file == NULL ? 0 : strlen(file) + sizeof(shape);
    text = file == NULL ? NULL : malloc(bytes);
    if (text != NULL && function->line == 0)
        snprintf(text, bytes, ",\"file\":%s", file);
    else if (text != NULL)
        snprintf(text, bytes, ",\"file\":%s,\"line\":%" PRIu32, file, function->line);
    free(file);
    return text;
}

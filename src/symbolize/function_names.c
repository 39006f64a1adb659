/* SPDX-License-Identifier: MIT */
#include "symbolize/function_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void function_names_init(struct function_names *names)
{
    symbolizer_init(&names->symbolizer, NULL);
}

void function_names_deinit(struct function_names *names)
{
    symbolizer_deinit(&names->symbolizer);
}

void function_names_use_trace(struct function_names *names, int folder)
{
    symbolizer_use_trace(&names->symbolizer, folder);
}

static void write_name(const struct symbol_place *place, char *text, size_t text_bytes)
{
    const char *name = place->name != NULL ? place->name : place->frames[place->count - 1].function;

    if (place->distance == 0)
        snprintf(text, text_bytes, "%s", name);
    else
        snprintf(text, text_bytes, "%s+0x%" PRIx64, name, place->distance);
}

const char *function_names_find(struct function_names *names, const struct recorded_module *module, uint64_t address,
                                char *text, size_t text_bytes)
{
    struct symbol_place place;

    symbolizer_find_symbol(&names->symbolizer, module, address, &place);
    write_name(&place, text, text_bytes);
    return place.problem;
}

static void write_line(const struct symbol_frame *frame, char *text, size_t text_bytes)
{
    const char *slash = frame->file == NULL ? NULL : strrchr(frame->file, '/');

    text[0] = '\0';
    if (frame->file != NULL && frame->line != 0)
        snprintf(text, text_bytes, " (%s:%" PRIu32 ")", slash == NULL ? frame->file : slash + 1, frame->line);
}

void function_names_line(struct function_names *names, const struct recorded_module *module, uint64_t address,
                         char *text, size_t text_bytes)
{
    struct symbol_place place;

    symbolizer_find(&names->symbolizer, module, address, &place);
    write_line(&place.frames[0], text, text_bytes);
}

const char *function_names_find_line(struct function_names *names, const struct recorded_module *module,
                                     uint64_t address, char *text, size_t text_bytes)
{
    const char *problem = function_names_find(names, module, address, text, text_bytes);
    size_t used = strlen(text);

    function_names_line(names, module, address, text + used, text_bytes - used);
    return problem;
}

const char *function_names_symbol(struct function_names *names, const struct recorded_module *module, uint64_t address,
                                  size_t *length_out)
{
    struct symbol_place place;

    symbolizer_find_symbol(&names->symbolizer, module, address, &place);
    *length_out = place.symbol_length;
    return place.symbol;
}

const char *function_names_path(struct function_names *names, const struct recorded_module *module)
{
    return symbolizer_path(&names->symbolizer, module);
}

int function_names_place(struct function_names *names, const struct recorded_module *module, uint64_t address,
                         uint64_t *place_out)
{
    return symbolizer_place(&names->symbolizer, module, address, place_out);
}

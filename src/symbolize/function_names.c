/* SPDX-License-Identifier: MIT */
#include "symbolize/function_names.h"

#include <inttypes.h>
#include <stdio.h>

void function_names_init(struct function_names *names)
{
    symbolizer_init(&names->symbolizer, &(struct symbolizer_options){.is_symbols_only = true});
}

void function_names_deinit(struct function_names *names)
{
    symbolizer_deinit(&names->symbolizer);
}

const char *function_names_find(struct function_names *names, const struct module *module, uint64_t address, char *text,
                                size_t text_bytes)
{
    struct symbol_place place;

    symbolizer_find(&names->symbolizer, module, address, &place);
    if (place.distance == 0)
        snprintf(text, text_bytes, "%s", place.frames[0].function);
    else
        snprintf(text, text_bytes, "%s+0x%" PRIx64, place.frames[0].function, place.distance);
    return place.problem;
}

const char *function_names_symbol(struct function_names *names, const struct module *module, uint64_t address,
                                  size_t *length_out)
{
    struct symbol_place place;

    symbolizer_find(&names->symbolizer, module, address, &place);
    *length_out = place.symbol_length;
    return place.symbol;
}

int function_names_place(struct function_names *names, const struct module *module, uint64_t address,
                         uint64_t *place_out)
{
    return symbolizer_place(&names->symbolizer, module, address, place_out);
}

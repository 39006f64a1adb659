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

void function_names_use_trace(struct function_names *names, int folder)
{
    symbolizer_use_trace(&names->symbolizer, folder);
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

const char *function_names_symbol(struct function_names *names, const struct module *module, uint64_t address)
{
    struct symbol_place place;

    symbolizer_find(&names->symbolizer, module, address, &place);
    return place.symbol;
}

const char *function_names_path(struct function_names *names, const struct module *module)
{
    return symbolizer_path(&names->symbolizer, module);
}

int function_names_place(struct function_names *names, const struct module *module, uint64_t address,
                         uint64_t *place_out)
{
    return symbolizer_place(&names->symbolizer, module, address, place_out);
}

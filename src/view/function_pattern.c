/* SPDX-License-Identifier: MIT */
#include "view/function_pattern.h"

#include <string.h>

/* As it is shown, or as its linker has it. */
static bool has_name(struct view_functions *functions, const struct function_spelling *spelling,
                     const struct view_function *function)
{
    const char *symbol;
    bool is_linkers;
    size_t length;

    if (function_spelling_has_plain(spelling, function->name))
        return true;
    if (functions == NULL || function->module == NULL)
        return false;
    symbol = function_names_symbol(&functions->names, function->module, function->address, &length);
    return symbol != NULL && function_spelling_has_function(spelling, symbol, length, &is_linkers);
}

/* The address may be in the middle of it, or one of the memory. */
static bool has_address(struct view_functions *functions, uint64_t address, const struct view_function *function)
{
    struct function_names *names = &functions->names;
    struct symbol_place place;
    uint64_t start;

    if (address == function->address)
        return true;
    if (function_names_place(names, function->module, function->address, &start) != 0)
        return false;
    if (address <= start)
        return address == start;
    symbolizer_find_symbol(&names->symbolizer, function->module, function->address - start + address, &place);
    return place.symbol != NULL && address - place.distance == start;
}

static bool is_meant(struct view_functions *functions, const struct function_spelling *spelling,
                     const struct view_function *function)
{
    if (spelling->has_module &&
        !function_spelling_has_module(spelling, function->module == NULL ? "" : function->module->path))
        return false;
    /* What has no name is shown as an address. */
    if (has_name(functions, spelling, function))
        return true;
    if (spelling->kind == SPELLING_NAME || functions == NULL || function->module == NULL)
        return false;
    return spelling->kind == SPELLING_ADDRESS
               ? has_address(functions, spelling->address, function)
               : pattern_lines_has(&functions->lines, &functions->names, spelling, function->module, function->address);
}

bool function_pattern_matches(struct view_functions *functions, const char *pattern,
                              const struct view_function *function)
{
    struct function_spelling spelling = function_spelling_of(pattern);

    if (is_meant(functions, &spelling, function))
        return true;
    /* "NAME+0x10" is in that function, if no module is called so. */
    if (!spelling.is_offset)
        return false;
    spelling = (struct function_spelling){.kind = SPELLING_NAME, .name = spelling.module};
    return function_spelling_is_single(&spelling) && is_meant(functions, &spelling, function);
}

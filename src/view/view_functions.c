/* SPDX-License-Identifier: MIT */
#include "view/view_functions.h"

#include "hosted/growing_array.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 1024u

/* Of numbers that identify functions: what a program can address, and how far into a module that may be. */
#define ADDRESS_BITS 47
#define OFFSET_BITS  32

static const char no_name[] = "?";

struct numbered_function {
    struct view_function *shown; /* stays where it is; NULL: nobody wanted to see it yet */
    size_t process;
    uint64_t address;
    const struct recorded_module *module;
    uint32_t next; /* another one at that address */
};

int view_functions_init(struct view_functions *functions, const struct view_trace *trace)
{
    *functions = (struct view_functions){.trace = trace};
    functions->addresses = calloc(trace->process_count + 1, sizeof(struct hash_map));
    functions->first_modules = calloc(trace->process_count + 1, sizeof(*functions->first_modules));
    if (functions->addresses == NULL || functions->first_modules == NULL) {
        free(functions->addresses);
        free(functions->first_modules);
        return -ENOMEM;
    }
    for (size_t i = 0; i < trace->process_count; i++) {
        int result = hash_map_init(&functions->addresses[i], 1);

        functions->first_modules[i + 1] = functions->first_modules[i] + trace->processes[i].modules.count;
        if (result != 0) {
            while (i-- > 0)
                hash_map_deinit(&functions->addresses[i]);
            free(functions->addresses);
            free(functions->first_modules);
            return result;
        }
    }
    function_names_init(&functions->names);
    function_names_use_trace(&functions->names, trace->files.folder);
    return 0;
}

static void forget(struct view_function *shown)
{
    if (shown != NULL && shown->name != no_name)
        free((char *)(uintptr_t)shown->name);
    free(shown);
}

void view_functions_deinit(struct view_functions *functions)
{
    for (size_t i = 0; i < functions->count; i++)
        forget(functions->functions[i].shown);
    for (size_t i = 0; i < functions->trace->process_count; i++)
        hash_map_deinit(&functions->addresses[i]);
    free(functions->functions);
    free(functions->addresses);
    free(functions->first_modules);
    pattern_lines_deinit(&functions->lines);
    function_names_deinit(&functions->names);
}

/* How much too early a time may be that is a guess. */
#define GUESS_ERROR_NS 10e6

static bool was_there(const struct recorded_module *module, uint64_t time)
{
    return module != NULL && module->loaded <= time && time < module->unloaded;
}

static uint32_t add(struct view_functions *functions, const struct numbered_function *function)
{
    struct hash_map *addresses = &functions->addresses[function->process];

    if (functions->count >= VIEW_NO_FUNCTION ||
        ARRAY_RESERVE(functions->functions, functions->capacity, functions->count + 1) != 0)
        return VIEW_NO_FUNCTION;
    if (hash_map_set(addresses, function->address, functions->count) != 0)
        return VIEW_NO_FUNCTION;
    /* Nobody else looks. */
    hash_map_reclaim(addresses);
    functions->functions[functions->count] = *function;
    return (uint32_t)functions->count++;
}

/* Where nothing is at that time, the time was a guess: nothing runs before it is there. */
static const struct recorded_module *find_module(const struct view_trace *trace, size_t process, uint64_t address,
                                                 uint64_t time)
{
    const struct modules *modules = &trace->processes[process].modules;
    const struct recorded_module *module = modules_find(modules, address, time, time);
    uint64_t error = (uint64_t)(GUESS_ERROR_NS / view_clock_tick_ns(&trace->clock));

    return module != NULL ? module : modules_find(modules, address, time, time + error);
}

uint32_t view_functions_number(struct view_functions *functions, size_t process, uint64_t address, uint64_t time)
{
    const struct recorded_module *module;
    uint64_t first = VIEW_NO_FUNCTION;
    uint32_t at;

    if (hash_map_lookup(&functions->addresses[process], address, &first) &&
        was_there(functions->functions[first].module, time))
        return (uint32_t)first;
    module = find_module(functions->trace, process, address, time);
    for (at = (uint32_t)first; at != VIEW_NO_FUNCTION && functions->functions[at].module != module;)
        at = functions->functions[at].next;
    if (at != VIEW_NO_FUNCTION)
        return at;
    return add(functions, &(struct numbered_function){
                              .process = process, .address = address, .module = module, .next = (uint32_t)first});
}

const struct recorded_module *view_functions_module(const struct view_functions *functions, uint32_t number)
{
    return functions->functions[number].module;
}

int64_t view_functions_id(const struct view_functions *functions, uint32_t number)
{
    const struct numbered_function *function = &functions->functions[number];
    const struct modules *modules = &functions->trace->processes[function->process].modules;
    uint64_t module;

    if (function->module == NULL)
        return -(int64_t)(function->process << ADDRESS_BITS | (function->address & ((1ull << ADDRESS_BITS) - 1))) - 1;
    module = functions->first_modules[function->process] + (uint64_t)(function->module - modules->modules) + 1;
    return (int64_t)(module << OFFSET_BITS | ((function->address - function->module->start) & UINT32_MAX));
}

static void name(struct view_functions *functions, struct view_function *shown)
{
    char text[NAME_BYTES];
    char *copy;

    if (shown->module == NULL)
        snprintf(text, sizeof(text), "0x%" PRIx64, shown->address);
    else
        shown->problem = function_names_find(&functions->names, shown->module, shown->address, text, sizeof(text));
    copy = strdup(text);
    shown->name = copy == NULL ? no_name : copy;
}

static void find_source(struct view_functions *functions, struct view_function *shown)
{
    struct symbol_function found;

    if (!functions->has_sources || shown->module == NULL)
        return;
    symbolizer_find_function(&functions->names.symbolizer, shown->module, shown->address, &found);
    shown->file = found.file;
    shown->line = found.file == NULL ? 0 : found.line;
}

void view_functions_want_sources(struct view_functions *functions)
{
    functions->has_sources = true;
}

void view_functions_watch(struct view_functions *functions, struct symbolizer_watch watch)
{
    symbolizer_watch(&functions->names.symbolizer, watch);
}

void view_functions_prepare(struct view_functions *functions)
{
    struct symbol_address *addresses;
    size_t count = 0;

    addresses = functions->has_sources ? calloc(functions->count + 1, sizeof(*addresses)) : NULL;
    if (addresses == NULL)
        return;
    for (size_t i = 0; i < functions->count; i++)
        if (functions->functions[i].module != NULL && functions->functions[i].shown == NULL)
            addresses[count++] =
                (struct symbol_address){functions->functions[i].module, functions->functions[i].address};
    symbolizer_prepare(&functions->names.symbolizer, addresses, count);
    free(addresses);
}

const struct view_function *view_functions_at(struct view_functions *functions, uint32_t number)
{
    static const struct view_function unknown = {.name = no_name};
    struct numbered_function *function = &functions->functions[number];

    if (function->shown != NULL)
        return function->shown;
    function->shown = calloc(1, sizeof(*function->shown));
    if (function->shown == NULL)
        return &unknown;
    *function->shown = (struct view_function){
        .number = number, .process = function->process, .address = function->address, .module = function->module};
    name(functions, function->shown);
    find_source(functions, function->shown);
    return function->shown;
}

/* SPDX-License-Identifier: MIT */
#include "query/query_source.h"

#include "hosted/growing_array.h"
#include "query/call_totals.h"
#include "trace/stream_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int query_source_init(struct query_source *source, const struct view_trace *trace, struct view_functions *functions)
{
    int result = 0;

    *source = (struct query_source){.trace = trace};
    source->recent = calloc(QUERY_RECENT_FUNCTIONS, sizeof(*source->recent));
    if (source->recent == NULL)
        return -ENOMEM;
    source->functions = functions == NULL ? &source->own_functions : functions;
    if (functions == NULL)
        result = view_functions_init(&source->own_functions, trace);
    if (result != 0) {
        free(source->recent);
        return result;
    }
    symbolizer_init(&source->lines, NULL);
    symbolizer_use_trace(&source->lines, trace->files.folder);
    return 0;
}

void query_source_deinit(struct query_source *source)
{
    call_totals_destroy(source->totals);
    if (source->functions == &source->own_functions)
        view_functions_deinit(&source->own_functions);
    symbolizer_deinit(&source->lines);
    free(source->known);
    free(source->recent);
}

void query_source_note(struct query_source *source, int result, const struct gait_error *why)
{
    if (result == 0 || (source->problem != 0 && !stream_error_outweighs(why, &source->why)))
        return;
    source->problem = result;
    source->why = *why;
}

void query_module_pause(const struct modules *modules, uint64_t time, uint64_t *from_out, uint64_t *to_out)
{
    *from_out = 0;
    *to_out = UINT64_MAX;
    for (size_t i = 0; i < modules->count; i++) {
        const uint64_t changes[] = {modules->modules[i].loaded, modules->modules[i].unloaded};

        for (unsigned j = 0; j < 2; j++)
            if (changes[j] <= time && changes[j] > *from_out)
                *from_out = changes[j];
            else if (changes[j] > time && changes[j] < *to_out)
                *to_out = changes[j];
    }
}

static void remember(struct query_source *source, struct query_recent_function *recent, uint64_t time)
{
    const struct modules *modules = &source->trace->processes[recent->process].modules;
    const struct recorded_module *module = modules_find(modules, recent->address, time, time);

    if (module != NULL) {
        recent->from = module->loaded;
        recent->to = module->unloaded;
    } else {
        query_module_pause(modules, time, &recent->from, &recent->to);
    }
}

uint32_t query_source_number(struct query_source *source, size_t process, uint64_t address, uint64_t time)
{
    uint64_t hash = (address ^ (uint64_t)process << 40) * 0x9e3779b97f4a7c15u;
    struct query_recent_function *recent = &source->recent[hash >> 52];

    if (recent->address == address && recent->process == process && recent->from <= time && time < recent->to)
        return recent->number;
    *recent = (struct query_recent_function){.address = address, .process = (uint32_t)process};
    recent->number = view_functions_number(source->functions, process, address, time);
    if (recent->number != VIEW_NO_FUNCTION)
        remember(source, recent, time);
    return recent->number;
}

static bool make_known(struct query_source *source, uint32_t number)
{
    size_t count = source->functions->count > number ? source->functions->count : (size_t)number + 1;

    return number < source->known_count || ARRAY_RESERVE_ZEROED(source->known, source->known_count, count) == 0;
}

const struct query_function *query_source_function(struct query_source *source, uint32_t number)
{
    static const struct view_function unknown = {.name = "?"};
    static const struct query_function nothing = {.shown = &unknown, .name_bytes = 1};
    struct query_function *function;

    if (number == VIEW_NO_FUNCTION || !make_known(source, number))
        return &nothing;
    function = &source->known[number];
    if (function->shown != NULL)
        return function;
    function->shown = view_functions_at(source->functions, number);
    function->name_bytes = (int)strlen(function->shown->name);
    function->id = view_functions_id(source->functions, number);
    if (function->shown->module != NULL) {
        const char *path = function->shown->module->path, *slash = strrchr(path, '/');

        function->module = slash == NULL ? path : slash + 1;
        function->module_bytes = (int)strlen(function->module);
    }
    return function;
}

const struct query_function *query_source_placed(struct query_source *source, uint32_t number)
{
    const struct query_function *function = query_source_function(source, number);
    struct symbol_function found;

    if (number >= source->known_count || function->is_placed || function->shown->module == NULL)
        return function;
    symbolizer_find_function(&source->lines, function->shown->module, function->shown->address, &found);
    source->known[number].is_placed = true;
    source->known[number].file = found.file;
    source->known[number].line = found.line;
    return &source->known[number];
}

int64_t query_source_span_ns(const struct query_source *source, uint64_t ticks)
{
    return (int64_t)view_trace_ns(source->trace, source->trace->clock.first.counter + ticks);
}

double query_source_event_bytes(const struct query_source *source)
{
    const struct trace_files *files = &source->trace->files;
    struct stat status;
    double bytes = 0;

    for (size_t i = 0; i < files->count; i++)
        if (files->files[i].kind == TRACE_FILE_INDEX && fstatat(files->folder, files->files[i].path, &status, 0) == 0)
            bytes += (double)status.st_size;
    return bytes;
}

/* SPDX-License-Identifier: MIT */
#include "report/coverage_json.h"

#include "export/export_text.h"

#include <inttypes.h>

struct list {
    FILE *stream;
    bool is_begun;
};

static void put_item(struct list *list)
{
    fputs(list->is_begun ? ",\n" : "\n", list->stream);
    list->is_begun = true;
}

static void put_build_id(FILE *stream, const struct module *module)
{
    fputs(",\"build_id\":\"", stream);
    for (size_t i = 0; i < module->build_id_bytes && i < sizeof(module->build_id); i++)
        fprintf(stream, "%02x", module->build_id[i]);
    putc('"', stream);
}

static void put_functions(FILE *stream, const struct coverage_choice *choice, const struct coverage_module *module)
{
    struct list list = {.stream = stream};

    fputs(",\"function_list\":[", stream);
    for (size_t i = 0; i < module->function_count; i++) {
        const struct coverage_function *function = &module->functions[i];

        if (!function->is_watched || !(function->is_executed ? choice->functions : choice->missed) ||
            !coverage_choice_wants(choice, module->module->path, function->name))
            continue;
        put_item(&list);
        fputs("{\"name\":", stream);
        export_put_json(stream, function->name);
        fprintf(stream,
                ",\"count\":%" PRIu64 ",\"is_executed\":%s,\"code_bytes\":%" PRIu64 ",\"executed_bytes\":%" PRIu64 "}",
                function->count, function->is_executed ? "true" : "false", function->end - function->start,
                function->executed_bytes);
    }
    putc(']', stream);
}

static void put_module(struct list *list, const struct coverage_choice *choice, const struct coverage_module *module)
{
    const struct coverage_filter filter = coverage_choice_filter(choice);
    FILE *stream = list->stream;
    struct coverage_totals totals;

    coverage_count(module, &filter, &totals);
    if (choice->filter != NULL && totals.functions == 0)
        return;
    put_item(list);
    fputs("{\"path\":", stream);
    export_put_json(stream, module->module->path);
    put_build_id(stream, module->module);
    fputs(",\"problem\":", stream);
    if (module->problem == NULL)
        fputs("null", stream);
    else
        export_put_json(stream, module->problem);
    fprintf(stream,
            ",\"functions\":%zu,\"executed_functions\":%zu,\"unwatched_functions\":%zu,\"code_bytes\":%" PRIu64
            ",\"executed_bytes\":%" PRIu64 ",\"executed_blocks\":%zu",
            totals.functions, totals.executed_functions, totals.unwatched_functions, totals.code_bytes,
            totals.executed_bytes, totals.blocks);
    if (choice->functions || choice->missed)
        put_functions(stream, choice, module);
    putc('}', stream);
}

static void put_source(struct list *list, const struct coverage_lines *lines, const struct coverage_source *source)
{
    FILE *stream = list->stream;

    put_item(list);
    fputs("{\"path\":", stream);
    export_put_json(stream, source->path);
    fprintf(stream, ",\"lines\":%zu,\"executed_lines\":%zu,\"line_counts\":[", source->line_count,
            source->executed_lines);
    for (size_t i = 0; i < source->line_count; i++) {
        const struct coverage_line *line = &lines->lines[source->first_line + i];

        fprintf(stream, "%s[%" PRIu32 ",%" PRIu64 "]", i == 0 ? "" : ",", line->line, line->count);
    }
    fputs("]}", stream);
}

static const char *truth(bool is_true)
{
    return is_true ? "true" : "false";
}

void coverage_json_put(FILE *stream, const struct coverage_choice *choice, const struct coverage *coverage,
                       const struct coverage_lines *lines)
{
    struct list list = {.stream = stream};

    fprintf(stream, "{\"has_blocks\":%s,\"is_of_hooks\":%s,\"elsewhere\":%" PRIu64 ",\"modules\":[",
            truth(coverage->code.has_blocks), truth(coverage->code.is_of_hooks), coverage->elsewhere);
    for (size_t i = 0; i < coverage->count; i++)
        put_module(&list, choice, &coverage->modules[i]);
    fputs("]", stream);
    if (lines != NULL) {
        list.is_begun = false;
        fputs(",\"sources\":[", stream);
        for (size_t i = 0; i < lines->source_count; i++)
            put_source(&list, lines, &lines->sources[i]);
        fputs("]", stream);
    }
    fputs("}\n", stream);
}

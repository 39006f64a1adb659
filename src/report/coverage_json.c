/* SPDX-License-Identifier: MIT */
#include "report/coverage_json.h"

#include "hosted/json_writer.h"

static void put_functions(struct json_writer *json, const struct coverage_choice *choice,
                          const struct coverage_module *module)
{
    json_writer_open(json, "function_list", '[');
    for (size_t i = 0; i < module->function_count; i++) {
        const struct coverage_function *function = &module->functions[i];

        if (!function->is_watched || !(function->is_executed ? choice->functions : choice->missed) ||
            !coverage_choice_wants(choice, module->module->path, function->name))
            continue;
        json_writer_open_line(json, 0, NULL, '{');
        json_writer_text(json, "name", function->name);
        json_writer_count(json, "count", function->count);
        json_writer_bool(json, "is_executed", function->is_executed);
        json_writer_count(json, "code_bytes", function->end - function->start);
        json_writer_count(json, "executed_bytes", function->executed_bytes);
        json_writer_close(json, '}');
    }
    json_writer_close(json, ']');
}

static size_t build_id_bytes(const struct recorded_module *module)
{
    return module->build_id_bytes < sizeof(module->build_id) ? module->build_id_bytes : sizeof(module->build_id);
}

static void put_module(struct json_writer *json, const struct coverage_choice *choice,
                       const struct coverage_module *module)
{
    const struct coverage_filter filter = coverage_choice_filter(choice);
    struct coverage_totals totals;

    coverage_count(module, &filter, &totals);
    if (choice->filter != NULL && totals.functions == 0)
        return;
    json_writer_open_line(json, 0, NULL, '{');
    json_writer_text(json, "path", module->module->path);
    json_writer_bytes(json, "build_id", module->module->build_id, build_id_bytes(module->module));
    json_writer_text(json, "problem", module->problem);
    json_writer_count(json, "functions", totals.functions);
    json_writer_count(json, "executed_functions", totals.executed_functions);
    json_writer_count(json, "unwatched_functions", totals.unwatched_functions);
    json_writer_count(json, "code_bytes", totals.code_bytes);
    json_writer_count(json, "executed_bytes", totals.executed_bytes);
    json_writer_count(json, "executed_blocks", totals.blocks);
    if (choice->functions || choice->missed)
        put_functions(json, choice, module);
    json_writer_close(json, '}');
}

static void put_source(struct json_writer *json, const struct coverage_lines *lines,
                       const struct coverage_source *source)
{
    json_writer_open_line(json, 0, NULL, '{');
    json_writer_text(json, "path", source->path);
    json_writer_count(json, "lines", source->line_count);
    json_writer_count(json, "executed_lines", source->executed_lines);
    json_writer_open(json, "line_counts", '[');
    for (size_t i = 0; i < source->line_count; i++) {
        const struct coverage_line *line = &lines->lines[source->first_line + i];

        json_writer_open(json, NULL, '[');
        json_writer_count(json, NULL, line->line);
        json_writer_count(json, NULL, line->count);
        json_writer_close(json, ']');
    }
    json_writer_close(json, ']');
    json_writer_close(json, '}');
}

void coverage_json_put(FILE *stream, const struct coverage_choice *choice, const struct coverage *coverage,
                       const struct coverage_lines *lines)
{
    struct json_writer json = {.stream = stream, .layout = JSON_DENSE, .escape = JSON_CLEAN};

    json_writer_open(&json, NULL, '{');
    json_writer_bool(&json, "has_blocks", coverage->code.has_blocks);
    json_writer_bool(&json, "is_of_hooks", coverage->code.is_of_hooks);
    json_writer_count(&json, "elsewhere", coverage->elsewhere);
    json_writer_open(&json, "modules", '[');
    for (size_t i = 0; i < coverage->count; i++)
        put_module(&json, choice, &coverage->modules[i]);
    json_writer_close(&json, ']');
    if (lines != NULL) {
        json_writer_open(&json, "sources", '[');
        for (size_t i = 0; i < lines->source_count; i++)
            put_source(&json, lines, &lines->sources[i]);
        json_writer_close(&json, ']');
    }
    json_writer_close(&json, '}');
    fputs("\n", stream);
}

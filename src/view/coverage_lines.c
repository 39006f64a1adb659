/* SPDX-License-Identifier: MIT */
/*
 * Lines are found by source and number, since code of one line is in many places; sources by their path, since many
 * units are compiled with the same headers. When all is read, both are sorted, and sources told which lines are theirs.
 */
#define _GNU_SOURCE
#include "view/coverage_lines.h"

#include "base/partition_point.h"
#include "base/text_hash.h"
#include "hosted/growing_array.h"
#include "symbolize/module_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS_AT_FIRST 256u
#define NONE           UINT32_MAX

struct line_reading {
    struct coverage_lines *lines;
    const struct coverage_module *module;
    const struct coverage_filter *filter; /* NULL: all is wanted */
    const bool *wanted;                   /* by function */
    uint32_t source;                      /* of the lines that follow */
};

/* ---- sources ----------------------------------------------------------------------------------------------------- */

/* Without "." and ".." where they can be told: compilers write the same path in many ways. */
static void tidy(char *path)
{
    char *out = path;

    for (const char *in = path; *in != '\0';) {
        size_t length = strcspn(in + 1, "/") + 1;

        if (length == 1 || (length == 2 && in[1] == '.')) {
            /* Nothing, or this folder. */
        } else if (length == 3 && in[1] == '.' && in[2] == '.') {
            while (out > path && *--out != '/')
                ;
        } else {
            memmove(out, in, length);
            out += length;
        }
        in += length;
    }
    *out = '\0';
}

static int add_source(struct coverage_lines *lines, char *path, uint64_t hash, uint32_t next)
{
    int result = ARRAY_RESERVE(lines->sources, lines->source_capacity, lines->source_count + 1);

    if (result == 0)
        result = hash_map_set(&lines->source_numbers, hash, lines->source_count);
    if (result != 0)
        return result;
    hash_map_reclaim(&lines->source_numbers);
    lines->sources[lines->source_count++] = (struct coverage_source){.path = path, .next = next};
    return 0;
}

static int take_source(void *context, const char *path)
{
    struct line_reading *reading = context;
    struct coverage_lines *lines = reading->lines;
    uint64_t hash, first = NONE;
    char *copy = strdup(path);
    int result;

    if (copy == NULL)
        return -ENOMEM;
    if (copy[0] == '/' || (copy[0] == '.' && copy[1] == '/'))
        tidy(strchr(copy, '/'));
    hash = text_hash(copy);
    (void)hash_map_lookup(&lines->source_numbers, hash, &first);
    for (uint32_t at = (uint32_t)first; at != NONE; at = lines->sources[at].next)
        if (strcmp(lines->sources[at].path, copy) == 0) {
            free(copy);
            reading->source = at;
            return 0;
        }
    reading->source = (uint32_t)lines->source_count;
    result = add_source(lines, copy, hash, (uint32_t)first);
    if (result != 0)
        free(copy);
    return result;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static int find_line(struct coverage_lines *lines, uint32_t source, uint32_t line, struct coverage_line **line_out)
{
    uint64_t key = (uint64_t)source << 32 | line, index = lines->line_count;
    int result;

    if (!hash_map_lookup(&lines->line_numbers, key, &index)) {
        result = ARRAY_RESERVE(lines->lines, lines->line_capacity, lines->line_count + 1);
        if (result == 0)
            result = hash_map_set(&lines->line_numbers, key, index);
        if (result != 0)
            return result;
        hash_map_reclaim(&lines->line_numbers);
        lines->lines[lines->line_count++] = (struct coverage_line){.source = source, .line = line};
    }
    *line_out = &lines->lines[index];
    return 0;
}

static int add_function(struct coverage_lines *lines, const struct coverage_source_function *function)
{
    int result = ARRAY_RESERVE(lines->functions, lines->function_capacity, lines->function_count + 1);

    if (result == 0)
        lines->functions[lines->function_count++] = *function;
    return result;
}

static bool is_last(const struct coverage_lines *lines, const struct coverage_function *function)
{
    return lines->function_count != 0 && lines->functions[lines->function_count - 1].function == function;
}

/* How many functions of the file begin before that. */
static size_t count_before(const struct coverage_module *module, uint64_t place)
{
    return PARTITION_POINT(module->function_count, i, module->functions[i].start < place);
}

/* Functions that begin in that code and were watched, if it is the first line that is told of it. */
static int take_functions(struct line_reading *reading, uint64_t start, uint64_t end, uint32_t line)
{
    const struct coverage_module *module = reading->module;

    for (size_t i = count_before(module, start); i < module->function_count; i++) {
        const struct coverage_function *function = &module->functions[i];
        int result = 0;

        if (function->start >= end)
            break;
        if (reading->wanted[i] && function->is_watched && !is_last(reading->lines, function))
            result = add_function(reading->lines, &(struct coverage_source_function){reading->source, line, function});
        if (result != 0)
            return result;
    }
    return 0;
}

/* Whether the code is in a function that is wanted. */
static bool is_wanted(const struct line_reading *reading, uint64_t start)
{
    size_t at;

    if (reading->filter == NULL || reading->filter->wants == NULL)
        return true;
    at = count_before(reading->module, start + 1);
    return at != 0 && start < reading->module->functions[at - 1].end && reading->wanted[at - 1];
}

static int take_line(void *context, uint64_t start, uint64_t end, uint32_t number)
{
    struct line_reading *reading = context;
    uint64_t most = code_ranges_most(&reading->module->ranges, start, end);
    struct coverage_line *line;
    int result;

    if (!is_wanted(reading, start))
        return 0;
    result = find_line(reading->lines, reading->source, number, &line);
    if (result != 0)
        return result;
    if (line->read_for != reading->lines->file_count) {
        line->read_for = reading->lines->file_count;
        line->here = 0;
    }
    if (most > line->here) {
        line->count += most - line->here;
        line->here = most;
    }
    return take_functions(reading, start, end, number);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static int compare_sources(const void *left_index, const void *right_index, void *context)
{
    const struct coverage_lines *lines = context;

    return strcmp(lines->sources[*(const uint32_t *)left_index].path,
                  lines->sources[*(const uint32_t *)right_index].path);
}

static int compare_lines(const void *left_line, const void *right_line)
{
    const struct coverage_line *left = left_line, *right = right_line;

    if (left->source != right->source)
        return left->source < right->source ? -1 : 1;
    return left->line < right->line ? -1 : left->line > right->line;
}

static int compare_functions(const void *left_function, const void *right_function)
{
    const struct coverage_source_function *left = left_function, *right = right_function;

    if (left->source != right->source)
        return left->source < right->source ? -1 : 1;
    if (left->line != right->line)
        return left->line < right->line ? -1 : 1;
    return strcmp(left->function->name, right->function->name);
}

/* Sources get other numbers: order[new] is the one that they had. */
static int sort_sources(struct coverage_lines *lines)
{
    uint32_t *order = calloc(lines->source_count + 1, sizeof(*order));
    uint32_t *numbers = calloc(lines->source_count + 1, sizeof(*numbers));
    struct coverage_source *sorted = calloc(lines->source_count + 1, sizeof(*sorted));
    int result = order == NULL || numbers == NULL || sorted == NULL ? -ENOMEM : 0;

    if (result == 0) {
        for (uint32_t i = 0; i < lines->source_count; i++)
            order[i] = i;
        qsort_r(order, lines->source_count, sizeof(*order), compare_sources, lines);
        for (uint32_t i = 0; i < lines->source_count; i++) {
            numbers[order[i]] = i;
            sorted[i] = lines->sources[order[i]];
        }
        for (size_t i = 0; i < lines->line_count; i++)
            lines->lines[i].source = numbers[lines->lines[i].source];
        for (size_t i = 0; i < lines->function_count; i++)
            lines->functions[i].source = numbers[lines->functions[i].source];
        free(lines->sources);
        lines->sources = sorted;
        sorted = NULL;
    }
    free(order);
    free(numbers);
    free(sorted);
    return result;
}

static void share_out(struct coverage_lines *lines)
{
    for (size_t i = 0; i < lines->line_count; i++) {
        struct coverage_source *source = &lines->sources[lines->lines[i].source];

        if (source->line_count++ == 0)
            source->first_line = i;
        source->executed_lines += lines->lines[i].count != 0;
    }
    for (size_t i = 0; i < lines->function_count; i++) {
        struct coverage_source *source = &lines->sources[lines->functions[i].source];

        if (source->function_count++ == 0)
            source->first_function = i;
        source->executed_functions += lines->functions[i].function->is_executed;
    }
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* Marks the functions that are wanted, and returns how many they are. */
static size_t choose(const struct line_reading *reading, bool *wanted)
{
    const struct coverage_module *module = reading->module;
    size_t count = 0;

    for (size_t i = 0; i < module->function_count; i++) {
        wanted[i] = reading->filter == NULL || reading->filter->wants == NULL ||
                    reading->filter->wants(reading->filter->context, module, &module->functions[i]);
        count += wanted[i];
    }
    return count;
}

static int read_module(struct line_reading *reading)
{
    const struct module_lines_visitor visitor = {take_source, take_line, reading};
    const struct coverage_module *module = reading->module;
    bool *wanted;
    int result = 0;

    if (module->debug_path[0] == '\0' || (module->executed_functions == 0 && module->block_count == 0))
        return 0;
    wanted = calloc(module->function_count + 1, sizeof(*wanted));
    if (wanted == NULL)
        return -ENOMEM;
    reading->wanted = wanted;
    reading->lines->file_count++;
    if (choose(reading, wanted) != 0)
        result = module_lines_visit(module->debug_path, &visitor);
    free(wanted);
    return result == -ENOENT ? 0 : result;
}

int coverage_lines_read(struct coverage_lines *lines, const struct coverage *coverage,
                        const struct coverage_filter *filter)
{
    int result;

    *lines = (struct coverage_lines){.source_count = 0};
    result = hash_map_init(&lines->source_numbers, ITEMS_AT_FIRST);
    if (result == 0)
        result = hash_map_init(&lines->line_numbers, ITEMS_AT_FIRST);
    for (size_t i = 0; i < coverage->count && result == 0; i++) {
        struct line_reading reading = {.lines = lines, .module = &coverage->modules[i], .filter = filter};

        result = read_module(&reading);
    }
    if (result == 0)
        result = sort_sources(lines);
    if (result != 0)
        return result;
    if (lines->line_count != 0)
        qsort(lines->lines, lines->line_count, sizeof(*lines->lines), compare_lines);
    if (lines->function_count != 0)
        qsort(lines->functions, lines->function_count, sizeof(*lines->functions), compare_functions);
    share_out(lines);
    return 0;
}

void coverage_lines_deinit(struct coverage_lines *lines)
{
    for (size_t i = 0; i < lines->source_count; i++)
        free(lines->sources[i].path);
    hash_map_deinit(&lines->source_numbers);
    hash_map_deinit(&lines->line_numbers);
    free(lines->sources);
    free(lines->lines);
    free(lines->functions);
    *lines = (struct coverage_lines){.source_count = 0};
}

/* SPDX-License-Identifier: MIT */
/*
 * Lines and functions that ran, source by source, as geninfo writes them (.info): for genhtml and many others. Lines
 * need blocks or instructions in the trace; with calls alone, functions are written, and the lines that they begin in.
 */
#include "export/export_format.h"
#include "export/export_text.h"
#include "hosted/error_text.h"
#include "view/coverage_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define TEXT_BYTES 4096
#define WIDE_COMMA "\xef\xbc\x8c" /* U+FF0C */

static void put_text(FILE *stream, const char *text)
{
    char clean[TEXT_BYTES];

    (void)export_text_clean(clean, sizeof(clean), text);
    export_put(stream, clean);
}

/* Readers take a comma for the end of the name, and there is no way to write one: a wide one stands for it. */
static void put_name(FILE *stream, const char *name)
{
    char clean[TEXT_BYTES];

    (void)export_text_clean(clean, sizeof(clean), name);
    for (const char *place = clean; *place != '\0'; place++)
        if (*place == ',')
            export_put(stream, WIDE_COMMA);
        else
            putc_unlocked(*place, stream);
}

static uint64_t count_of(const struct coverage_function *function)
{
    return function->count != 0 ? function->count : function->is_executed;
}

static bool is_same(const struct coverage_source_function *left, const struct coverage_source_function *right)
{
    return left->line == right->line && strcmp(left->function->name, right->function->name) == 0;
}

struct totals {
    uint64_t found;
    uint64_t hit;
};

/* One that is compiled into several files is told once, with all that they have counted. Returns how many they are. */
static size_t put_function(FILE *stream, const struct coverage_source_function *functions, size_t count,
                           struct totals *totals)
{
    uint64_t sum = 0;
    size_t alike = 0;

    while (alike < count && is_same(&functions[0], &functions[alike]))
        sum += count_of(functions[alike++].function);
    fprintf(stream, "FN:%" PRIu32 ",", functions[0].line);
    put_name(stream, functions[0].function->name);
    fprintf(stream, "\nFNDA:%" PRIu64 ",", sum);
    put_name(stream, functions[0].function->name);
    export_put(stream, "\n");
    totals->found++;
    totals->hit += sum != 0;
    return alike;
}

static void put_functions(FILE *stream, const struct coverage_lines *lines, const struct coverage_source *source)
{
    const struct coverage_source_function *functions = &lines->functions[source->first_function];
    struct totals totals = {0, 0};

    for (size_t i = 0; i < source->function_count;)
        i += put_function(stream, functions + i, source->function_count - i, &totals);
    fprintf(stream, "FNF:%" PRIu64 "\nFNH:%" PRIu64 "\n", totals.found, totals.hit);
}

static void put_lines(FILE *stream, const struct coverage_lines *lines, const struct coverage_source *source)
{
    for (size_t i = 0; i < source->line_count; i++) {
        const struct coverage_line *line = &lines->lines[source->first_line + i];

        fprintf(stream, "DA:%" PRIu32 ",%" PRIu64 "\n", line->line, line->count);
    }
    fprintf(stream, "LF:%zu\nLH:%zu\n", source->line_count, source->executed_lines);
}

/* Without blocks, of each line in which a function begins: whether it was called. */
static void put_first_lines(FILE *stream, const struct coverage_lines *lines, const struct coverage_source *source)
{
    const struct coverage_source_function *functions = &lines->functions[source->first_function];
    struct totals totals = {0, 0};

    for (size_t i = 0; i < source->function_count;) {
        uint32_t line = functions[i].line;
        uint64_t sum = 0;

        for (; i < source->function_count && functions[i].line == line; i++)
            sum += count_of(functions[i].function);
        fprintf(stream, "DA:%" PRIu32 ",%" PRIu64 "\n", line, sum);
        totals.found++;
        totals.hit += sum != 0;
    }
    fprintf(stream, "LF:%" PRIu64 "\nLH:%" PRIu64 "\n", totals.found, totals.hit);
}

static void put_source(FILE *stream, const struct coverage_lines *lines, const struct coverage_source *source,
                       bool has_blocks)
{
    if (!has_blocks && source->function_count == 0)
        return;
    export_put(stream, "TN:\nSF:");
    put_text(stream, source->path);
    export_put(stream, "\n");
    put_functions(stream, lines, source);
    if (has_blocks)
        put_lines(stream, lines, source);
    else
        put_first_lines(stream, lines, source);
    export_put(stream, "end_of_record\n");
}

static int write_coverage(const struct coverage *coverage, FILE *stream, struct gait_error *err)
{
    struct coverage_lines lines;
    int result = coverage_lines_read(&lines, coverage, NULL);

    for (size_t i = 0; i < lines.source_count && result == 0; i++)
        put_source(stream, &lines, &lines.sources[i], coverage->code.has_blocks);
    if (result != 0)
        (void)error_set(err, result, "cannot find which lines ran: there is no memory");
    else if (!coverage->code.has_blocks && !coverage->code.has_functions)
        result = error_set(err, ENOENT,
                           "the trace holds no record of which code ran; record it with 'gait spawn --follow block'");
    else if (lines.source_count == 0)
        result = error_set(err, ENOENT,
                           "no line is known: there is no debug information of what ran; compile with -g, or install "
                           "it");
    coverage_lines_deinit(&lines);
    return result;
}

static int write_lcov(const struct export_job *job, struct gait_error *err)
{
    const struct executed_choice choice = {job->threads, job->thread_count, job->from_ns, job->to_ns};
    struct coverage coverage;
    int read_result = coverage_read(&coverage, job->trace, &choice, err), result = 0;

    if (read_result != -ENOMEM)
        result = write_coverage(&coverage, job->stream, read_result == 0 ? err : NULL);
    coverage_deinit(&coverage);
    return read_result != 0 ? read_result : result;
}

extern const struct export_format export_format_lcov;
const struct export_format export_format_lcov = {
    .name = "lcov",
    .file_name = "coverage.info",
    .kind = EXPORT_TEXT,
    .write = write_lcov,
};

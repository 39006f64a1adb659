/* SPDX-License-Identifier: MIT */
#include "view/coverage_lines.h"

#include "support/check.h"
#include "support/coverage_lab.h"

#define RAN_LINE ((uint32_t)coverage_lab_line)

static struct coverage_lab lab;
static struct coverage coverage;
static struct coverage_lines lines;

static void read_lab(enum coverage_lab_events events, const struct coverage_filter *filter)
{
    coverage_lab_init(&lab, events);
    CHECK_EQUAL(coverage_read(&coverage, &lab.trace, NULL, NULL), 0);
    CHECK_EQUAL(coverage_lines_read(&lines, &coverage, filter), 0);
    if (lines.source_count == 0)
        check_skip("this build cannot read line tables");
}

static void end(void)
{
    coverage_lines_deinit(&lines);
    coverage_deinit(&coverage);
    coverage_lab_deinit(&lab);
}

static const struct coverage_source *find_source(const char *name)
{
    static const struct coverage_source none = {.path = NULL};

    for (size_t i = 0; i < lines.source_count; i++) {
        const char *slash = strrchr(lines.sources[i].path, '/');

        if (slash != NULL && strcmp(slash + 1, name) == 0)
            return &lines.sources[i];
    }
    return &none;
}

static void lines_of_what_ran_are_counted(void)
{
    const struct coverage_source *source;

    read_lab(COVERAGE_LAB_BLOCKS, NULL);
    source = find_source("coverage_lab.c");
    CHECK(source->path != NULL);
    CHECK(source->executed_lines >= 1 && source->executed_lines <= 6);
    CHECK(source->line_count > 30);
    for (size_t i = 0; i < source->line_count; i++) {
        const struct coverage_line *line = &lines.lines[source->first_line + i];

        CHECK(i == 0 || line->line > line[-1].line);
        CHECK(line->count == 0 || (line->line >= RAN_LINE && line->line < RAN_LINE + 6));
        /* Where both blocks are, both count. */
        CHECK(line->count <= 5);
        CHECK(line->line != RAN_LINE || line->count >= 3);
    }
    end();
}

static void functions_are_where_their_source_begins(void)
{
    const struct coverage_source *source;
    bool is_there = false;

    read_lab(COVERAGE_LAB_BLOCKS, NULL);
    source = find_source("coverage_lab.c");
    for (size_t i = 0; i < source->function_count; i++) {
        const struct coverage_source_function *function = &lines.functions[source->first_function + i];

        if (strcmp(function->function->name, "coverage_lab_ran") == 0) {
            /* That of its name, or of its bracket. */
            CHECK(function->line == RAN_LINE || function->line == RAN_LINE + 1);
            is_there = true;
        }
    }
    CHECK(is_there);
    CHECK_EQUAL(source->executed_functions, 1);
    end();
}

static void sources_are_sorted_and_none_comes_twice(void)
{
    size_t line_count = 0;

    read_lab(COVERAGE_LAB_BLOCKS, NULL);
    CHECK(lines.source_count > 10);
    for (size_t i = 0; i < lines.source_count; i++) {
        CHECK(i == 0 || strcmp(lines.sources[i - 1].path, lines.sources[i].path) < 0);
        CHECK(strstr(lines.sources[i].path, "/../") == NULL);
        line_count += lines.sources[i].line_count;
    }
    CHECK_EQUAL(line_count, lines.line_count);
    end();
}

static bool wants(const void *context, const struct coverage_module *module, const struct coverage_function *function)
{
    (void)module;
    return strcmp(function->name, context) == 0;
}

static void only_lines_of_wanted_functions_count(void)
{
    const struct coverage_filter filter = {wants, "coverage_lab_missed"};

    read_lab(COVERAGE_LAB_BLOCKS, &filter);
    CHECK(find_source("coverage_lab.c")->line_count >= 2);
    CHECK(find_source("coverage_lab.c")->line_count <= 5);
    CHECK_EQUAL(find_source("coverage_lab.c")->executed_lines, 0);
    CHECK_EQUAL(find_source("coverage_lab.c")->line_count, lines.line_count);
    CHECK_EQUAL(lines.function_count, 1);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(lines_of_what_ran_are_counted),
    CHECK_CASE(functions_are_where_their_source_begins),
    CHECK_CASE(sources_are_sorted_and_none_comes_twice),
    CHECK_CASE(only_lines_of_wanted_functions_count),
};

CHECK_MAIN(cases)

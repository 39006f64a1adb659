/* SPDX-License-Identifier: MIT */
#include "view/coverage.h"

#include "support/check.h"
#include "support/coverage_lab.h"

#include <unistd.h>

static struct coverage_lab lab;
static struct coverage coverage;
static const struct coverage_filter everything;

static const struct coverage_function *find(const char *name)
{
    static const struct coverage_function none = {.name = "?", .count = UINT64_MAX};

    for (size_t i = 0; i < coverage.modules[0].function_count; i++)
        if (strcmp(coverage.modules[0].functions[i].name, name) == 0)
            return &coverage.modules[0].functions[i];
    return &none;
}

static void read_lab(enum coverage_lab_events events)
{
    coverage_lab_init(&lab, events);
    CHECK_EQUAL(coverage_read(&coverage, &lab.trace, NULL, NULL), 0);
    CHECK_EQUAL(coverage.count, 1);
    CHECK_TEXT(coverage.modules[0].module->path, lab.path);
}

static void end(void)
{
    coverage_deinit(&coverage);
    coverage_lab_deinit(&lab);
}

static void blocks_tell_how_much_of_functions_ran(void)
{
    struct coverage_totals totals;

    read_lab(COVERAGE_LAB_BLOCKS);
    CHECK(coverage.modules[0].problem == NULL);
    CHECK_EQUAL(find("coverage_lab_ran")->count, 3);
    CHECK_EQUAL(find("coverage_lab_ran")->executed_bytes, 12);
    CHECK(find("coverage_lab_ran")->is_executed);
    CHECK(find("coverage_lab_ran")->end - find("coverage_lab_ran")->start >= 12);
    CHECK_EQUAL(find("coverage_lab_missed")->count, 0);
    CHECK(!find("coverage_lab_missed")->is_executed && find("coverage_lab_missed")->is_watched);
    coverage_count(&coverage.modules[0], &everything, &totals);
    CHECK_EQUAL(totals.executed_functions, 1);
    CHECK(totals.functions > 100);
    CHECK_EQUAL(totals.executed_bytes, 12);
    CHECK(totals.code_bytes > 10000);
    CHECK_EQUAL(totals.blocks, 2);
    end();
}

static void calls_tell_which_functions_ran(void)
{
    read_lab(COVERAGE_LAB_CALLS);
    CHECK_EQUAL(find("coverage_lab_ran")->count, 2);
    CHECK_EQUAL(find("coverage_lab_called")->count, 2);
    CHECK_EQUAL(find("coverage_lab_called")->executed_bytes, 0);
    CHECK_EQUAL(coverage.modules[0].executed_functions, 2);
    CHECK_EQUAL(coverage.elsewhere, 1);
    end();
}

static void of_hooks_only_hooked_functions_count(void)
{
    struct coverage_totals totals;

    read_lab(COVERAGE_LAB_HOOKS);
    CHECK_EQUAL(find("coverage_lab_called")->count, 2);
    CHECK(!find("coverage_lab_missed")->is_executed && find("coverage_lab_missed")->is_watched);
    CHECK(!find("main")->is_watched);
    coverage_count(&coverage.modules[0], &everything, &totals);
    CHECK_EQUAL(totals.functions, 3);
    CHECK_EQUAL(totals.executed_functions, 1);
    CHECK_EQUAL(totals.functions + totals.unwatched_functions, coverage.modules[0].function_count);
    end();
}

static bool wants(const void *context, const struct coverage_module *module, const struct coverage_function *function)
{
    (void)module;
    return strncmp(function->name, context, strlen(context)) == 0;
}

static void totals_are_those_of_wanted_functions(void)
{
    const struct coverage_filter filter = {wants, "coverage_lab_"};
    struct coverage_totals totals;

    read_lab(COVERAGE_LAB_BLOCKS);
    coverage_count(&coverage.modules[0], &filter, &totals);
    CHECK_EQUAL(totals.executed_functions, 1);
    /* Those three, init and deinit. */
    CHECK_EQUAL(totals.functions, 5);
    CHECK_EQUAL(totals.blocks, 2);
    CHECK_EQUAL(totals.executed_bytes, 12);
    coverage_count(&coverage.modules[0], &(struct coverage_filter){wants, "coverage_lab_missed"}, &totals);
    CHECK_EQUAL(totals.functions, 1);
    CHECK_EQUAL(totals.executed_functions + totals.blocks + totals.executed_bytes, 0);
    end();
}

/* The file of the example is nowhere. */
static void without_the_file_what_ran_is_known(void)
{
    struct trace_folder folder;
    struct view_trace trace;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(coverage_read(&coverage, &trace, NULL, NULL), 0);
    CHECK_EQUAL(coverage.count, 1);
    CHECK_TEXT(coverage.modules[0].problem, "is gone");
    CHECK_EQUAL(coverage.modules[0].function_count, 1);
    CHECK_TEXT(coverage.modules[0].functions[0].name, "example+0x1100");
    CHECK_EQUAL(coverage.modules[0].functions[0].count, 10);
    coverage_deinit(&coverage);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(blocks_tell_how_much_of_functions_ran), CHECK_CASE(calls_tell_which_functions_ran),
    CHECK_CASE(of_hooks_only_hooked_functions_count),  CHECK_CASE(totals_are_those_of_wanted_functions),
    CHECK_CASE(without_the_file_what_ran_is_known),
};

CHECK_MAIN(cases)

/* SPDX-License-Identifier: MIT */
#include "symbolize/module_lines.h"

#include "support/check.h"
#include "support/coverage_lab.h"
#include "symbolize/module_functions.h"

#include <errno.h>

struct told {
    uint64_t start; /* of the code that is looked for */
    bool is_of_lab; /* the lines that follow */
    bool is_absolute;
    unsigned count;
    uint32_t first_line; /* that was told of it */
    unsigned enough;     /* after so many lines no more are wanted; 0: all are */
};

static int take_source(void *context, const char *path)
{
    struct told *told = context;
    const char *slash = strrchr(path, '/');

    told->is_of_lab = strcmp(slash == NULL ? path : slash + 1, "coverage_lab.c") == 0;
    if (told->is_of_lab)
        told->is_absolute = path[0] == '/';
    return 0;
}

static int take_line(void *context, uint64_t start, uint64_t end, uint32_t line)
{
    struct told *told = context;

    CHECK(start < end);
    CHECK(line != 0);
    told->count++;
    if (told->is_of_lab && start == told->start && told->first_line == 0)
        told->first_line = line;
    return told->enough != 0 && told->count == told->enough ? 7 : 0;
}

static void the_code_of_a_line_is_told(void)
{
    struct told told = {.count = 0};
    const struct module_lines_visitor visitor = {take_source, take_line, &told};
    struct module_functions functions;
    const struct recorded_module *module;
    struct coverage_lab lab;

    coverage_lab_init(&lab, COVERAGE_LAB_CALLS);
    module = &lab.trace.processes[0].modules.modules[0];
    CHECK(module_functions_open(&functions, module, -1) == NULL);
    CHECK_EQUAL(module_functions_place(&functions, module, (uint64_t)(uintptr_t)coverage_lab_ran, &told.start), 0);
    CHECK_EQUAL(module_lines_visit(lab.path, &visitor), 0);
    CHECK(told.count > 10000);
    CHECK(told.is_absolute);
    CHECK(told.first_line == (uint32_t)coverage_lab_line || told.first_line == (uint32_t)coverage_lab_line + 1);
    module_functions_close(&functions);
    coverage_lab_deinit(&lab);
}

static void who_has_enough_gets_its_own_result(void)
{
    struct told told = {.enough = 3};
    const struct module_lines_visitor visitor = {take_source, take_line, &told};

    CHECK_EQUAL(module_lines_visit("/proc/self/exe", &visitor), 7);
    CHECK_EQUAL(told.count, 3);
}

static void without_debug_information_there_is_none(void)
{
    struct told told = {.count = 0};
    const struct module_lines_visitor visitor = {take_source, take_line, &told};

    CHECK_EQUAL(module_lines_visit("/nowhere/example", &visitor), -ENOENT);
    CHECK_EQUAL(module_lines_visit("/proc/self/status", &visitor), -ENOENT);
    CHECK_EQUAL(told.count, 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_code_of_a_line_is_told),
    CHECK_CASE(who_has_enough_gets_its_own_result),
    CHECK_CASE(without_debug_information_there_is_none),
};

CHECK_MAIN(cases)

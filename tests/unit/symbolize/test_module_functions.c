/* SPDX-License-Identifier: MIT */
#include "symbolize/module_functions.h"

#include "support/check.h"
#include "support/coverage_lab.h"

static struct coverage_lab lab;
static struct module_functions functions;

static struct recorded_module *begin(void)
{
    coverage_lab_init(&lab, COVERAGE_LAB_CALLS);
    return &lab.trace.processes[0].modules.modules[0];
}

static void end(void)
{
    module_functions_close(&functions);
    coverage_lab_deinit(&lab);
}

static uint64_t address_of(int (*function)(int))
{
    return (uint64_t)(uintptr_t)function;
}

static const struct module_function *function_at(uint64_t place)
{
    for (size_t i = functions.count; i-- > 0;)
        if (functions.functions[i].start <= place && place < functions.functions[i].end)
            return &functions.functions[i];
    return NULL;
}

static void functions_are_found_by_their_addresses(void)
{
    const struct recorded_module *module = begin();
    const struct module_function *found;
    uint64_t place;

    CHECK(module_functions_open(&functions, module, -1) == NULL);
    CHECK_EQUAL(module_functions_place(&functions, module, address_of(coverage_lab_missed), &place), 0);
    found = function_at(place);
    CHECK(found != NULL && found->start == place && found->name != NULL);
    CHECK_TEXT(found->name, "coverage_lab_missed");
    CHECK(function_at(found->end - 1) == found);
    CHECK(module_functions_place(&functions, module, module->end + 0x10000000, &place) != 0);
    CHECK(place >= functions.base && place < functions.end);
    end();
}

static void they_are_sorted_and_have_code(void)
{
    const struct recorded_module *module = begin();

    CHECK(module_functions_open(&functions, module, -1) == NULL);
    CHECK(functions.count > 100);
    for (size_t i = 0; i < functions.count; i++) {
        CHECK(i == 0 || functions.functions[i - 1].start < functions.functions[i].start);
        CHECK(functions.functions[i].start < functions.functions[i].end);
    }
    end();
}

static const char *open_path(struct recorded_module *module, char *path)
{
    char *before = module->path;
    const char *problem;

    module->path = path;
    problem = module_functions_open(&functions, module, -1);
    module->path = before;
    return problem == NULL ? "" : problem;
}

static void other_files_are_not_used(void)
{
    struct recorded_module *module = begin();
    uint64_t place;

    CHECK_TEXT(open_path(module, "/nowhere/example"), "is gone");
    CHECK_EQUAL(functions.count, 0);
    CHECK(module_functions_place(&functions, module, module->start, &place) != 0);
    module_functions_close(&functions);
    CHECK_TEXT(open_path(module, "/etc/passwd"), "is no program or library");
    module_functions_close(&functions);
    module->build_id_bytes = 20;
    memset(module->build_id, 7, sizeof(module->build_id));
    CHECK_TEXT(open_path(module, module->path), "has changed since");
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_are_found_by_their_addresses),
    CHECK_CASE(they_are_sorted_and_have_code),
    CHECK_CASE(other_files_are_not_used),
};

CHECK_MAIN(cases)

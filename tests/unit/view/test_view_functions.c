/* SPDX-License-Identifier: MIT */
#include "view/view_functions.h"

#include "support/check.h"
#include "support/trace_folder.h"

#include <unistd.h>

static struct trace_folder folder;
static struct view_trace trace;
static struct view_functions functions;

static void begin(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(view_functions_init(&functions, &trace), 0);
}

static void end(void)
{
    view_functions_deinit(&functions);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static void functions_are_numbered_as_they_come(void)
{
    begin();
    CHECK_EQUAL(view_functions_number(&functions, 0, 0x401100, 2000), 0);
    CHECK_EQUAL(view_functions_number(&functions, 0, 0x401200, 2000), 1);
    CHECK_EQUAL(view_functions_number(&functions, 0, 0x401100, 3000), 0);
    CHECK_EQUAL(view_functions_at(&functions, 1)->address, 0x401200);
    CHECK_EQUAL(functions.count, 2);
    for (uint64_t i = 0; i < 1000; i++)
        CHECK_EQUAL(view_functions_number(&functions, 0, 0x500000 + i, 2000), 2 + i);
    CHECK_EQUAL(view_functions_number(&functions, 0, 0x500000, 2000), 2);
    end();
}

/* Whoever asks first: another one that looks at the trace in another order gives the same. */
static void what_identifies_a_function_does_not_depend_on_its_number(void)
{
    struct view_functions other;
    uint32_t first, second, outside;
    int64_t id;

    begin();
    CHECK_EQUAL(view_functions_init(&other, &trace), 0);
    first = view_functions_number(&functions, 0, 0x401100, 2000);
    second = view_functions_number(&functions, 0, 0x401200, 2000);
    outside = view_functions_number(&functions, 0, 0x901100, 2000);
    id = view_functions_id(&functions, first);
    CHECK_EQUAL(view_functions_id(&functions, second), id + 0x100);
    CHECK(view_functions_id(&functions, outside) < 0);
    CHECK_EQUAL(view_functions_number(&other, 0, 0x901100, 2000), 0);
    CHECK_EQUAL(view_functions_number(&other, 0, 0x401100, 2000), 1);
    CHECK_EQUAL(view_functions_id(&other, 1), id);
    CHECK_EQUAL(view_functions_id(&other, 0), view_functions_id(&functions, outside));
    view_functions_deinit(&other);
    end();
}

/* The file is gone. */
static void names_say_where_when_there_is_nothing_better(void)
{
    const struct view_function *function;

    begin();
    function = view_functions_at(&functions, view_functions_number(&functions, 0, 0x401100, 2000));
    CHECK_TEXT(function->name, "example+0x1100");
    CHECK(function->problem != NULL);
    CHECK(function->module == &trace.processes[0].modules.modules[0]);
    CHECK(view_functions_at(&functions, 0) == function);
    function = view_functions_at(&functions, view_functions_number(&functions, 0, 0x901100, 2000));
    CHECK_TEXT(function->name, "0x901100");
    CHECK(function->module == NULL && function->problem == NULL);
    end();
}

#define LATER 50000000u

/* Before the module came, something else was there; but not right before, where times may be guesses. */
static void an_address_is_another_function_at_another_time(void)
{
    struct trace_bytes modules = {.size_bytes = 0};

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    trace_bytes_put_module(
        &modules,
        &(struct trace_module){
            .change = TRACE_MODULE_LOADED, .time = LATER, .start = 0x401000, .end = 0x402000, .file_offset = 0x1000},
        "/nowhere/example");
    unlinkat(folder.fd, "100/modules.gait", 0);
    trace_folder_put_stream(&folder, &(struct trace_stream_plan){.name = "100/modules.gait",
                                                                 .header = {.kind = TRACE_STREAM_MODULES, .pid = 100},
                                                                 .bytes = &modules});
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(view_functions_init(&functions, &trace), 0);
    CHECK_EQUAL(view_functions_number(&functions, 0, 0x401100, 500), 0);
    CHECK_EQUAL(view_functions_number(&functions, 0, 0x401100, LATER), 1);
    CHECK_EQUAL(view_functions_number(&functions, 0, 0x401100, 600), 0);
    CHECK_EQUAL(view_functions_number(&functions, 0, 0x401100, LATER + 1), 1);
    CHECK_EQUAL(view_functions_number(&functions, 0, 0x401100, LATER - 1000), 1);
    CHECK_TEXT(view_functions_at(&functions, 0)->name, "0x401100");
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_are_numbered_as_they_come),
    CHECK_CASE(what_identifies_a_function_does_not_depend_on_its_number),
    CHECK_CASE(names_say_where_when_there_is_nothing_better),
    CHECK_CASE(an_address_is_another_function_at_another_time),
};

CHECK_MAIN(cases)

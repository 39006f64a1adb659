/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "support/command_check.h"
#include "support/hooked_calls.h"

#include <unistd.h>

extern const struct command command_graph;

static struct trace_folder folder;

static void begin(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    hooked_calls_put(&folder, 100, "<0@2000 <1@2100 >1@2600 >0@3000");
    hooked_calls_put(&folder, 101, "<1@2120 >1@2620");
}

static void all_paths_are_shown(void)
{
    begin();
    command_check_output(&command_graph, (const char *const[]){folder.path, NULL},
                         "process 100: ./example --fast\n"
                         "\n"
                         "      total       %        self       calls  function, and below it whom it calls\n"
                         "   1.000 us  66.7 %      500 ns           1  example+0x1000\n"
                         "     500 ns  33.3 %      500 ns           1    example+0x1100\n"
                         "     500 ns  33.3 %      500 ns           1  example+0x1100\n"
                         "\n");
    command_check_output(&command_graph, (const char *const[]){folder.path, "--thread=101", NULL},
                         "process 100: ./example --fast\n"
                         "\n"
                         "      total       %        self       calls  function, and below it whom it calls\n"
                         "     500 ns 100.0 %      500 ns           1  example+0x1100\n"
                         "\n");
    command_check_output(&command_graph, (const char *const[]){folder.path, "--min-percent=50", "--depth", "1", NULL},
                         "process 100: ./example --fast\n"
                         "\n"
                         "      total       %        self       calls  function, and below it whom it calls\n"
                         "   1.000 us  66.7 %      500 ns           1  example+0x1000\n"
                         "\n"
                         "not shown, since each has less than 50 %: 1; --min-percent 0 shows them\n"
                         "deeper calls: 1; --depth shows them\n");
    trace_folder_deinit(&folder);
}

static void a_function_is_shown_with_its_callers(void)
{
    begin();
    command_check_output(&command_graph, (const char *const[]){folder.path, "*1100", NULL},
                         "example+0x1100 in /nowhere/example\n"
                         "\n"
                         "      total       %        self       calls  called by, and below who called that\n"
                         "     500 ns  50.0 %                       1  example+0x1000\n"
                         "     500 ns  50.0 %                       1  (not known by whom)\n"
                         "\n"
                         "      total       %        self       calls  the function, and below it whom it calls\n"
                         "   1.000 us 100.0 %    1.000 us           2  example+0x1100\n"
                         "\n");
    trace_folder_deinit(&folder);
}

static void programs_get_json(void)
{
    begin();
    command_check_output(
        &command_graph, (const char *const[]){folder.path, "--json", "--thread=100", NULL},
        "{\"times\":\"recorded\",\"processes\":[{\"pid\":100,\"image\":1,\"command\":\"./example "
        "--fast\",\"total_ns\":1000,"
        "\"callees\":[{\"function\":\"example+0x1000\",\"module\":\"/nowhere/example\",\"calls\":1,"
        "\"total_ns\":1000,\"self_ns\":500,\"again\":false,"
        "\"callees\":[{\"function\":\"example+0x1100\",\"module\":\"/nowhere/example\",\"calls\":1,"
        "\"total_ns\":500,\"self_ns\":500,\"again\":false,\"callees\":[]}]}]}],\"gaps\":0,\"lost_bytes\":0}\n");
    command_check_output(
        &command_graph, (const char *const[]){folder.path, "*1000", "--json", NULL},
        "{\"times\":\"recorded\",\"functions\":[{\"pid\":100,\"image\":1,\"command\":\"./example --fast\","
        "\"function\":\"example+0x1000\",\"module\":\"/nowhere/example\",\"calls\":1,\"total_ns\":1000,"
        "\"self_ns\":500,\"callers\":[],"
        "\"callees\":[{\"function\":\"example+0x1100\",\"module\":\"/nowhere/example\",\"calls\":1,"
        "\"total_ns\":500,\"self_ns\":500,\"again\":false,\"callees\":[]}]}],\"gaps\":0,\"lost_bytes\":0}\n");
    trace_folder_deinit(&folder);
}

static void wrong_arguments_are_explained(void)
{
    begin();
    /* Where there is no last trace. */
    CHECK_EQUAL(chdir("/"), 0);
    command_check_refusal(&command_graph, (const char *const[]){NULL}, COMMAND_MISUSED, "TRACE is missing");
    command_check_refusal(&command_graph, (const char *const[]){folder.path, "--min-percent", "101", NULL},
                          COMMAND_MISUSED, "from 0 to 100");
    command_check_refusal(&command_graph, (const char *const[]){folder.path, "a", "b", NULL}, COMMAND_MISUSED,
                          "FUNCTION is one word");
    command_check_refusal(&command_graph, (const char *const[]){folder.path, "example+0x1001", NULL}, COMMAND_FAILED,
                          "did you mean example+0x1000");
    command_check_refusal(&command_graph, (const char *const[]){"/nowhere", NULL}, COMMAND_FAILED, "/nowhere");
    trace_folder_deinit(&folder);
}

/* What is there is shown. */
static void a_trace_that_is_cut_off_is_shown(void)
{
    begin();
    command_check_cut_off(&command_graph, &folder, "100/101.1.index.gait", "example+0x1000");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_trace_that_is_cut_off_is_shown),     CHECK_CASE(all_paths_are_shown),
    CHECK_CASE(a_function_is_shown_with_its_callers), CHECK_CASE(programs_get_json),
    CHECK_CASE(wrong_arguments_are_explained),
};

CHECK_MAIN(cases)

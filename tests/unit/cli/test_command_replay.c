/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "support/command_check.h"
#include "support/hooked_calls.h"

#include <unistd.h>

extern const struct command command_replay;

static struct trace_folder folder;

static void begin(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    hooked_calls_put(&folder, 100, "<0@2000 <1@2100 >1@2150 >0@3000");
    hooked_calls_put(&folder, 101, "<2@2120 >2@2500");
}

static void all_threads_are_shown_by_time(void)
{
    begin();
    command_check_output(&command_replay, (const char *const[]){folder.path, NULL},
                         "   duration  thread       calls\n"
                         "             example 100  example+0x1000() {\n"
                         "             example 100    example+0x1100() {\n"
                         "             worker 101   example+0x1200() {\n"
                         "      50 ns  example 100    } /* example+0x1100 */\n"
                         "     380 ns  worker 101   } /* example+0x1200 */\n"
                         "   1.000 us  example 100  } /* example+0x1000 */\n");
    command_check_output(&command_replay, (const char *const[]){folder.path, "--by-thread", NULL},
                         "   duration  calls\n"
                         "thread example 100 of process 100: ./example --fast\n"
                         "             example+0x1000() {\n"
                         "      50 ns    example+0x1100();\n"
                         "   1.000 us  } /* example+0x1000 */\n"
                         "\n"
                         "thread worker 101 of process 100: ./example --fast\n"
                         "     380 ns  example+0x1200();\n");
    trace_folder_deinit(&folder);
}

static void options_choose_what_is_shown(void)
{
    begin();
    command_check_output(&command_replay, (const char *const[]){"--thread", "worker", folder.path, NULL},
                         "   duration  calls\n     380 ns  example+0x1200();\n");
    command_check_output(&command_replay, (const char *const[]){"--function=*1100", folder.path, "--thread=100", NULL},
                         "   duration  calls\n      50 ns  example+0x1100();\n");
    command_check_output(&command_replay,
                         (const char *const[]){"--min-duration", "0.9us", folder.path, "--thread=100", NULL},
                         "   duration  calls\n   1.000 us  example+0x1000();\n");
    command_check_output(&command_replay,
                         (const char *const[]){"--from", "1.2us", folder.path, "--thread=100", "--depth=1", NULL},
                         "   duration  calls\n   1.000 us  example+0x1000();\n");
    command_check_output(
        &command_replay, (const char *const[]){"--limit", "1", folder.path, "--thread=100", NULL},
        "   duration  calls\n             example+0x1000() {\nand more; without --limit they are shown\n");
    command_check_output(
        &command_replay, (const char *const[]){"--from", "1s", folder.path, NULL},
        "   duration  thread       calls\nthere are no calls in it that are within what was asked for\n");
    trace_folder_deinit(&folder);
}

static void wrong_arguments_are_explained(void)
{
    begin();
    /* Where there is no last trace. */
    CHECK_EQUAL(chdir("/"), 0);
    command_check_refusal(&command_replay, (const char *const[]){NULL}, COMMAND_MISUSED, "TRACE is missing");
    command_check_refusal(&command_replay, (const char *const[]){"--from", "soon", folder.path, NULL}, COMMAND_MISUSED,
                          "'--from soon'");
    command_check_refusal(&command_replay, (const char *const[]){folder.path, "--thread", NULL}, COMMAND_MISUSED,
                          "its value is missing");
    command_check_refusal(&command_replay, (const char *const[]){"--thread", "nobody", folder.path, NULL},
                          COMMAND_FAILED, "'nobody'");
    command_check_refusal(&command_replay, (const char *const[]){"--function", "example+0x1001", folder.path, NULL},
                          COMMAND_FAILED, "did you mean example+0x1000");
    command_check_refusal(&command_replay, (const char *const[]){"/nowhere", NULL}, COMMAND_FAILED, "/nowhere");
    trace_folder_write(&folder, "100/100.1.index.gait", "?", 1);
    command_check_refusal(&command_replay, (const char *const[]){folder.path, NULL}, COMMAND_FAILED,
                          "100.1.index.gait");
    trace_folder_deinit(&folder);
}

/* Nothing stands above what is not there. */
static void without_such_a_function_nothing_is_shown(void)
{
    struct command_run run;

    begin();
    run = COMMAND_RUN(&command_replay, 100, folder.path, "--function", "nothing", "--by-thread");
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK_TEXT(run.output, "");
    command_run_deinit(&run);
    /* Nor above threads that did not call it. */
    command_check_output(&command_replay,
                         (const char *const[]){folder.path, "--function", "*1200", "--by-thread", NULL},
                         "   duration  calls\n"
                         "thread worker 101 of process 100: ./example --fast\n"
                         "     380 ns  example+0x1200();\n");
    trace_folder_deinit(&folder);
}

/* What is there is shown. */
static void a_trace_that_is_cut_off_is_shown(void)
{
    begin();
    command_check_cut_off(&command_replay, &folder, "100/101.1.index.gait", "example+0x1000");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_trace_that_is_cut_off_is_shown),
    CHECK_CASE(all_threads_are_shown_by_time),
    CHECK_CASE(options_choose_what_is_shown),
    CHECK_CASE(wrong_arguments_are_explained),
    CHECK_CASE(without_such_a_function_nothing_is_shown),
};

CHECK_MAIN(cases)

/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/command.h"

#include "cli/screens/screen.h"
#include "support/check.h"
#include "support/command_run.h"
#include "support/trace_folder.h"

#include <pty.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct command command_export;

static struct trace_folder folder;

static void begin(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
}

static void a_trace_goes_to_standard_output(void)
{
    struct command_run run;

    begin();
    run = COMMAND_RUN(&command_export, 100, "-f", "folded", folder.path);
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK_TEXT(run.output, "example;example+0x1100 250\nworker;example+0x1100 250\n");
    command_run_deinit(&run);
    trace_folder_deinit(&folder);
}

static void a_trace_goes_to_a_file(void)
{
    struct command_run run;
    char path[128];
    size_t size;
    uint8_t *bytes;

    begin();
    snprintf(path, sizeof(path), "%s/out", folder.path);
    run = COMMAND_RUN(&command_export, 100, "-f", "folded", folder.path, "-o", path);
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK_TEXT(run.output, "");
    command_run_deinit(&run);
    bytes = trace_folder_read(&folder, "out", &size);
    CHECK_EQUAL(size, 53);
    free(bytes);
    trace_folder_deinit(&folder);
}

static void threads_are_chosen_by_name_or_number(void)
{
    struct command_run run;

    begin();
    run = COMMAND_RUN(&command_export, 100, "-f", "folded", folder.path, "--thread", "work*");
    CHECK_TEXT(run.output, "worker;example+0x1100 250\n");
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_export, 100, "-f", "folded", folder.path, "--thread", "100", "--thread=101");
    CHECK_TEXT(run.output, "example;example+0x1100 250\nworker;example+0x1100 250\n");
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_export, 100, "-f", "folded", folder.path, "--thread", "nobody");
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK(strstr(run.err.text, "no thread is called or numbered 'nobody'") != NULL);
    command_run_deinit(&run);
    trace_folder_deinit(&folder);
}

static void a_range_of_time_is_cut_out(void)
{
    struct command_run run;

    begin();
    run =
        COMMAND_RUN(&command_export, 100, "-f", "folded", folder.path, "--thread=100", "--from=1.02us", "--to=1.12us");
    CHECK_TEXT(run.output, "example;example+0x1100 50\n");
    command_run_deinit(&run);
    trace_folder_deinit(&folder);
}

static void a_terminal_gets_no_bytes_that_are_no_text(void)
{
    struct gait_error err = {.code = 0};
    char *words[] = {"-f", "perfetto", folder.path};
    struct screen screen;
    struct command_call call = {3, words, &screen, &err};
    int terminal, other;

    begin();
    if (openpty(&terminal, &other, NULL, NULL, NULL) != 0)
        check_skip("there are no terminals here");
    screen_init(&screen, fdopen(other, "w"));
    CHECK_EQUAL(command_export.run(&call), COMMAND_MISUSED);
    CHECK_TEXT(err.text, "cannot write perfetto to a terminal: it is no text; try -o trace.pftrace");
    fclose(screen.stream);
    close(terminal);
    trace_folder_deinit(&folder);
}

static void what_cannot_be_written_is_explained(void)
{
    struct command_run run;

    begin();
    run = COMMAND_RUN(&command_export, 100, "-f", "folded", folder.path, "-o", "/nowhere/at/all");
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK_TEXT(run.err.text, "cannot write '/nowhere/at/all': No such file or directory; try another path");
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_export, 100, "-f", "chrome", folder.path, "-o", "/dev/full");
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK_TEXT(run.err.text, "cannot write all of '/dev/full': No space left on device; try another path");
    command_run_deinit(&run);
    CHECK_EQUAL(access("/dev/full", F_OK), 0);
    trace_folder_deinit(&folder);
}

static void what_can_be_read_is_written_and_the_rest_explained(void)
{
    struct command_run run;

    begin();
    trace_folder_write(&folder, "100/100.1.index.gait", "?", 1);
    run = COMMAND_RUN(&command_export, 100, "-f", "folded", folder.path);
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK(strstr(run.err.text, "100.1.index.gait") != NULL);
    CHECK_TEXT(run.output, "worker;example+0x1100 250\n");
    command_run_deinit(&run);
    trace_folder_deinit(&folder);
}

static void what_is_no_trace_is_explained(void)
{
    struct command_run run = COMMAND_RUN(&command_export, 100, "-f", "folded", "/nowhere");

    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK(strstr(run.err.text, "'/nowhere'") != NULL);
    command_run_deinit(&run);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_trace_goes_to_standard_output),
    CHECK_CASE(a_trace_goes_to_a_file),
    CHECK_CASE(threads_are_chosen_by_name_or_number),
    CHECK_CASE(a_range_of_time_is_cut_out),
    CHECK_CASE(a_terminal_gets_no_bytes_that_are_no_text),
    CHECK_CASE(what_cannot_be_written_is_explained),
    CHECK_CASE(what_can_be_read_is_written_and_the_rest_explained),
    CHECK_CASE(what_is_no_trace_is_explained),
};

CHECK_MAIN(cases)

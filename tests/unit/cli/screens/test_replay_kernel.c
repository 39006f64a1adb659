/* SPDX-License-Identifier: MIT */
/* As gait replay shows it. */
#include "cli/screens/replay_kernel.h"

#include "cli/command.h"
#include "support/check.h"
#include "support/command_run.h"
#include "support/kernel_trace.h"

extern const struct command command_replay;

static struct trace_folder folder;

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    for (; (text = strstr(text, part)) != NULL; text++)
        count++;
    return count;
}

static void begin(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    kernel_trace_put_example(&folder);
}

static void events_stand_between_calls(void)
{
    struct command_run run;

    begin();
    run = COMMAND_RUN(&command_replay, 100, "--no-pager", folder.path);
    CHECK(strstr(run.output, "early 100") != NULL);
    CHECK(strstr(run.output, "* tick number=-7 text=\"word\"\n") != NULL);
    CHECK_EQUAL(count_of(run.output, "* tick "), 3);
    CHECK_EQUAL(count_of(run.output, "* tock "), 1);
    command_run_deinit(&run);
    trace_folder_deinit(&folder);
}

static void other_choices_leave_them_out(void)
{
    struct command_run run;

    begin();
    run = COMMAND_RUN(&command_replay, 100, "--no-pager", "--by-thread", folder.path);
    CHECK_EQUAL(count_of(run.output, "* t"), 0);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_replay, 100, "--no-pager", "--thread", "101", folder.path);
    CHECK_EQUAL(count_of(run.output, "* t"), 0);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_replay, 100, "--no-pager", "--limit", "1", folder.path);
    CHECK(count_of(run.output, "* t") <= 1);
    command_run_deinit(&run);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(events_stand_between_calls),
    CHECK_CASE(other_choices_leave_them_out),
};

CHECK_MAIN(cases)

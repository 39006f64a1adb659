/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "support/check.h"
#include "support/command_run.h"
#include "support/control_server.h"

#include <errno.h>
#include <unistd.h>

extern const struct command command_detach;

static void the_recording_ends_and_the_trace_is_named(void)
{
    struct control_server *server = control_server_start(getpid(), 0);
    char pid[16], expected[128];
    struct command_run run;

    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    snprintf(expected, sizeof(expected), "process %s goes on without gait; the trace is /traces/one?x\n", pid);
    run = COMMAND_RUN(&command_detach, 80, pid);
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK_TEXT(run.output, expected);
    CHECK(server->is_detached);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_detach, 80, pid);
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK_EQUAL(run.err.code, ENOENT);
    command_run_deinit(&run);
    control_server_stop(server);
}

static void a_process_is_needed(void)
{
    struct command_run run = command_run(&command_detach, 80, (const char *const[]){NULL});

    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_detach, 80, "sort");
    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    CHECK(strstr(run.err.text, "'sort' is no process") != NULL);
    command_run_deinit(&run);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_recording_ends_and_the_trace_is_named),
    CHECK_CASE(a_process_is_needed),
};

CHECK_MAIN(cases)

/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "support/check.h"
#include "support/command_run.h"
#include "support/control_server.h"

#include <unistd.h>

extern const struct command command_trigger;

static void the_recording_is_told(void)
{
    struct control_server *server = control_server_start(getpid(), 0);
    struct command_run run;
    char pid[16];

    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    run = COMMAND_RUN(&command_trigger, 80, pid);
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK_TEXT(run.output, "");
    CHECK_EQUAL(server->triggers, 1);
    CHECK_TEXT(server->note, "");
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_trigger, 80, pid, "it was slow again");
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK_EQUAL(server->triggers, 2);
    CHECK_TEXT(server->note, "it was slow again");
    command_run_deinit(&run);
    control_server_stop(server);
}

static void a_process_is_needed(void)
{
    struct command_run run = command_run(&command_trigger, 80, (const char *const[]){NULL});

    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_trigger, 80, "1", "two", "words");
    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    CHECK(strstr(run.err.text, "in quotes") != NULL);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_trigger, 80, "now");
    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    command_run_deinit(&run);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_recording_is_told),
    CHECK_CASE(a_process_is_needed),
};

CHECK_MAIN(cases)

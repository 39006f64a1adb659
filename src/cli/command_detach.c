/* SPDX-License-Identifier: MIT */
/* gait detach. */
#include "cli/command.h"

#include "cli/control_client.h"
#include "cli/options/arguments.h"
#include "cli/screens/printable.h"
#include "cli/screens/screen.h"

#include <string.h>

static enum command_status run(const struct command_call *call)
{
    static const char *const names[] = {"PID"};
    static const struct argument_rules rules = {.command = "detach", .names = names, .name_count = 1};
    struct control_question question = {.operation = CONTROL_DETACH};
    char path[CONTROL_TEXT_BYTES + 1], shown[CONTROL_TEXT_BYTES + 1];
    static struct control_answer answer; /* large */
    const char *pid;
    enum command_status status = arguments_parse(call, &rules, &pid);

    if (status == COMMAND_DONE)
        status = control_client_read_pid(call, "detach", pid, &question.pid);
    if (status != COMMAND_DONE)
        return status;
    if (control_client_ask(&question, &answer, call->error) != 0)
        return COMMAND_FAILED;
    memcpy(path, answer.text, answer.text_bytes);
    path[answer.text_bytes] = '\0';
    screen_print(call->screen, "process %d goes on without gait; the trace is %s\n", (int)question.pid,
                 printable(shown, sizeof(shown), path));
    return COMMAND_DONE;
}

extern const struct command command_detach;
const struct command command_detach = {
    .name = "detach",
    .arguments = "PID",
    .summary = "end the recording of a process, which goes on",
    .details = "Ends the recording that the process is part of, as Ctrl-C does in gait attach, and\n"
               "returns when nothing of gait is in the process any more. Your own recordings can be\n"
               "ended, and any as root.\n"
               "\n"
               "Examples:\n"
               "  gait detach 4711\n",
    .run = run,
};

/* SPDX-License-Identifier: MIT */
/* gait trigger. */
#include "cli/command.h"

#include "cli/control_client.h"
#include "cli/screens/screen.h"
#include "hosted/error_text.h"

#include <errno.h>

static enum command_status run(const struct command_call *call)
{
    struct control_question question = {.operation = CONTROL_TRIGGER};
    struct control_answer answer;
    enum command_status status;

    if (call->argument_count < 1 || call->argument_count > 2) {
        (void)error_set(call->error, EINVAL,
                        "trigger: PID is needed, and perhaps a note in quotes; see gait help trigger");
        return COMMAND_MISUSED;
    }
    status = control_client_read_pid(call, "trigger", call->arguments[0], &question.pid);
    if (status != COMMAND_DONE)
        return status;
    question.note = call->argument_count == 2 ? call->arguments[1] : NULL;
    return control_client_ask(&question, &answer, call->error) == 0 ? COMMAND_DONE : COMMAND_FAILED;
}

extern const struct command command_trigger;
const struct command command_trigger = {
    .name = "trigger",
    .arguments = "PID [NOTE]",
    .summary = "make a running recording keep what happens now",
    .details = "What is around this moment is kept, as with --trigger manual: pre-roll seconds before\n"
               "it and post-roll seconds behind it. The note is kept with it. A program that was\n"
               "started with gait spawn --wait begins to run.\n"
               "\n"
               "Examples:\n"
               "  gait trigger 4711\n"
               "  gait trigger 4711 'the page hung here'\n",
    .run = run,
};

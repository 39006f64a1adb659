/* SPDX-License-Identifier: MIT */
/* gait trigger. */
#include "cli/command.h"

#include "cli/control_client.h"
#include "cli/options/arguments.h"
#include "cli/screens/screen.h"
#include "hosted/error_text.h"

#include <errno.h>

static enum command_status run(const struct command_call *call)
{
    static const char *const names[] = {"PID"};
    const struct argument_rules rules = {.command = "trigger", .names = names, .name_count = 1};
    struct control_question question = {.operation = CONTROL_TRIGGER};
    struct control_answer answer;
    const char *words[3] = {NULL, NULL, NULL};
    size_t count;
    enum command_status status = arguments_parse_more(call, &rules, words, 3, &count);

    if (status == COMMAND_DONE && count > 2) {
        (void)error_set(call->error, EINVAL,
                        "cannot use '%s': a note of several words is one argument, in quotes; try 'gait help trigger'",
                        words[2]);
        return COMMAND_MISUSED;
    }
    if (status == COMMAND_DONE)
        status = control_client_read_pid(call, "trigger", words[0], &question.pid);
    if (status != COMMAND_DONE)
        return status;
    question.note = words[1];
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

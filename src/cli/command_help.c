/* SPDX-License-Identifier: MIT */
/* gait help: the list of commands, or one of them in full. All that it says comes from the commands themselves. */
#include "cli/command.h"

#include "cli/commands.h"
#include "cli/screens/help_screen.h"
#include "cli/screens/manual_page.h"
#include "cli/screens/screen.h"

#include <string.h>

static void list_commands(struct screen *screen)
{
    screen_print(screen, "Gait watches how a program walks.\n\n");
    screen_put(screen, SCREEN_STRONG, 0, "usage: gait COMMAND [ARGUMENT...]");
    screen_print(screen, "\n\n");
    for (size_t i = 0; commands_get(i) != NULL; i++)
        screen_print(screen, "  %-17s  %s\n", commands_get(i)->name, commands_get(i)->summary);
    screen_print(screen, "\n'gait help COMMAND' explains a command. The manual page is gait(1).\n");
}

static enum command_status run(const struct command_call *call)
{
    int count = call->argument_count, used;
    char **words = call->arguments;
    const struct command *command;
    bool as_manual = count > 0 && strcmp(words[0], "--manual") == 0;

    if (count == 0) {
        list_commands(call->screen);
        return COMMAND_DONE;
    }
    command = commands_find(count - as_manual, words + as_manual, &used, call->error);
    if (command == NULL)
        return COMMAND_MISUSED;
    (as_manual ? manual_page_put : help_screen_put)(call->screen, command);
    return COMMAND_DONE;
}

extern const struct command command_help;
const struct command command_help = {
    .name = "help",
    .arguments = "[--manual] [COMMAND]",
    .summary = "list the commands, or explain one",
    .details = "Without a command, lists all of them; with one, explains it.\n"
               "\n"
               "  --manual    as the source of a manual page, which make install puts where man\n"
               "              looks for it: man gait-report\n"
               "\n"
               "Examples:\n"
               "  gait help\n"
               "  gait help report\n"
               "  gait report --help\n",
    .run = run,
};

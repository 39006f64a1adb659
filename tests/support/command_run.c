/* SPDX-License-Identifier: MIT */
/* The screen is a stream in memory. */
#define _GNU_SOURCE
#include "support/command_run.h"

#include "cli/screens/screen.h"

#include <stdlib.h>

struct command_run command_run(const struct command *command, unsigned width, const char *const *words)
{
    struct command_run run = {.output = NULL};
    char *copies[COMMAND_RUN_WORDS + 1] = {NULL};
    size_t size = 0;
    struct screen screen = {.stream = open_memstream(&run.output, &size), .width = width};
    struct command_call call = {0, copies, &screen, &run.err};

    while (words[call.argument_count] != NULL && call.argument_count < COMMAND_RUN_WORDS) {
        copies[call.argument_count] = (char *)words[call.argument_count];
        call.argument_count++;
    }
    run.status = command->run(&call);
    fclose(screen.stream);
    return run;
}

void command_run_deinit(struct command_run *run)
{
    free(run->output);
    run->output = NULL;
}

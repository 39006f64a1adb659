/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/screens/progress.h"

#include "cli/screens/printable.h"
#include "record/recording.h"

#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>

void progress_begin(struct progress *progress, FILE *stream, bool is_verbose)
{
    *progress = (struct progress){.stream = is_verbose ? stream : NULL};
}

void progress_end(struct progress *progress)
{
    free(progress->has_ended);
    *progress = (struct progress){0};
}

void progress_say(const struct progress *progress, const char *format, ...)
{
    va_list arguments;

    if (progress->stream == NULL)
        return;
    fputs("gait: ", progress->stream);
    va_start(arguments, format);
    vfprintf(progress->stream, format, arguments);
    va_end(arguments);
    fputc('\n', progress->stream);
}

static void say_process(const struct progress *progress, const struct manifest_process *process)
{
    char command[200];

    printable(command, sizeof(command), process->command == NULL ? "" : process->command);
    if (process->parent_pid != 0)
        progress_say(progress, "process %u, made by %u, is recorded: %s", process->pid, process->parent_pid, command);
    else
        progress_say(progress, "process %u is recorded: %s", process->pid, command);
}

static void say_end(const struct progress *progress, const struct manifest_process *process)
{
    if (process->status == -1)
        progress_say(progress, "process %u is no longer recorded: it has ended, or executed another program",
                     process->pid);
    else if (WIFSIGNALED(process->status))
        progress_say(progress, "process %u was ended by signal %d", process->pid, WTERMSIG(process->status));
    else
        progress_say(progress, "process %u has ended with status %d", process->pid, WEXITSTATUS(process->status));
}

void progress_look(struct progress *progress, const struct recording *recording)
{
    bool *grown;

    if (progress->stream == NULL)
        return;
    if (recording->process_count > progress->process_count) {
        grown = realloc(progress->has_ended, recording->process_count * sizeof(*grown));
        if (grown == NULL)
            return;
        progress->has_ended = grown;
        for (; progress->process_count < recording->process_count; progress->process_count++) {
            grown[progress->process_count] = false;
            say_process(progress, &recording->manifest.processes[progress->process_count]);
        }
    }
    for (size_t i = 0; i < progress->process_count; i++) {
        if (progress->has_ended[i] || !recording->processes[i].is_ended)
            continue;
        progress->has_ended[i] = true;
        say_end(progress, &recording->manifest.processes[i]);
    }
}

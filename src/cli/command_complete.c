/* SPDX-License-Identifier: MIT */
/*
 * gait complete: what may come next on a command line, for the shells' own completion (completions/). The help of a
 * command is what its options are read from, so that there is one list of them.
 */
#define _GNU_SOURCE
#include "cli/command.h"

#include "cli/commands.h"
#include "cli/completed_values.h"
#include "cli/help_text.h"
#include "cli/screens/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool begins_with(const char *name, const char *part)
{
    return strncmp(name, part, strlen(part)) == 0;
}

/* Whether an earlier command begins with the same word. */
static bool was_told(size_t which, size_t length)
{
    const char *name = commands_get(which)->name;

    for (size_t i = 0; i < which; i++)
        if (strncmp(commands_get(i)->name, name, length) == 0 && strcspn(commands_get(i)->name, " ") == length)
            return true;
    return false;
}

static void put_first_words(struct screen *screen, const char *part)
{
    const struct command *command;

    for (size_t i = 0; (command = commands_get(i)) != NULL; i++) {
        size_t length = strcspn(command->name, " ");

        if (begins_with(command->name, part) && !was_told(i, length))
            screen_print(screen, "%.*s\n", (int)length, command->name);
    }
}

static void put_second_words(struct screen *screen, const char *first, const char *part)
{
    const struct command *command;
    size_t length = strlen(first);

    for (size_t i = 0; (command = commands_get(i)) != NULL; i++)
        if (begins_with(command->name, first) && command->name[length] == ' ' &&
            begins_with(command->name + length + 1, part))
            screen_print(screen, "%s\n", command->name + length + 1);
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

static void put_options(struct screen *screen, const struct command *command, const char *part)
{
    struct help_text help;
    struct help_line line;
    const char *name;
    size_t length;

    help_text_begin(&help, command->details);
    while (help_text_next(&help, &line)) {
        if (line.kind != HELP_OPTION)
            continue;
        for (size_t at = 0; help_option_next(&line, &at, &name, &length);)
            if (name[1] == '-' && strlen(part) <= length && strncmp(name, part, strlen(part)) == 0)
                screen_print(screen, "%.*s\n", (int)length, name);
    }
    if (begins_with("--help", part))
        screen_print(screen, "--help\n");
}

/* The value of an option: in the word behind it, or behind = in its own. False: it is none of those that are known. */
static bool put_value(struct screen *screen, const struct completed_line *line)
{
    const char *equals = line->part[0] == '-' && line->part[1] == '-' ? strchr(line->part, '=') : NULL;
    const char *before = line->word_count == 0 ? "" : line->words[line->word_count - 1];
    char option[64];
    struct screen inner = *screen;
    char *text = NULL;
    size_t size_bytes;
    bool is_known;

    if (equals == NULL)
        return before[0] == '-' && completed_values_put_option(screen, line, before, line->part);
    snprintf(option, sizeof(option), "%.*s", (int)(equals - line->part), line->part);
    inner.stream = open_memstream(&text, &size_bytes);
    if (inner.stream == NULL)
        return false;
    is_known = completed_values_put_option(&inner, line, option, equals + 1);
    fclose(inner.stream);
    for (char *at = text, *end; at != NULL && *at != '\0'; at = end + 1) {
        end = strchrnul(at, '\n');
        screen_print(screen, "%s=%.*s\n", option, (int)(end - at), at);
        if (*end == '\0')
            break;
    }
    free(text);
    return is_known;
}

/* Behind -- are words of another program. */
static bool is_behind_dashes(const struct command_call *call)
{
    for (int i = 0; i + 1 < call->argument_count; i++)
        if (strcmp(call->arguments[i], "--") == 0)
            return true;
    return false;
}

static enum command_status run(const struct command_call *call)
{
    int count = call->argument_count, used;
    const char *last = count == 0 ? "" : call->arguments[count - 1];
    const struct command *command;
    struct gait_error err;

    if (count <= 1) {
        put_first_words(call->screen, last);
        return COMMAND_DONE;
    }
    if (count == 2)
        put_second_words(call->screen, call->arguments[0], last);
    command = commands_find(count - 1, call->arguments, &used, &err);
    if (command != NULL && !is_behind_dashes(call) && strcmp(command->name, "help") != 0 && count > used) {
        const struct completed_line line = {command->name, count - 1 - used, call->arguments + used, last};

        if (put_value(call->screen, &line))
            return COMMAND_DONE;
        if (last[0] != '-')
            completed_values_put_argument(call->screen, &line);
    }
    if (strcmp(call->arguments[0], "help") == 0 && count == 2 && last[0] != '-')
        put_first_words(call->screen, last);
    else if (command != NULL && last[0] == '-' && !is_behind_dashes(call))
        put_options(call->screen, command, last);
    return COMMAND_DONE;
}

extern const struct command command_complete;
const struct command command_complete = {
    .name = "complete",
    .arguments = "WORD...",
    .summary = "what may come next on a command line, for shells",
    .details = "Prints the completions of the last word, which may be empty, behind 'gait' and\n"
               "the words before it, a line each: commands, options of a command and what they\n"
               "take, traces in ./traces, processes, places for gait probe, functions. The\n"
               "completion of bash, zsh and fish asks for it; where nothing is printed, they\n"
               "offer files. Put the script for your shell (completions/) where it looks for\n"
               "such scripts, or make install.\n"
               "\n"
               "Examples:\n"
               "  gait complete rep\n"
               "  gait complete report --so\n"
               "  gait complete export -f fl\n"
               "  gait complete probe tracepoint:sched:sched_s\n",
    .takes_program = true,
    .run = run,
};

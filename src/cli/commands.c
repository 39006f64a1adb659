/* SPDX-License-Identifier: MIT */
/* The table of commands, made from commands.def, and what to say when a word is none of them. Stateless. */
#include "cli/commands.h"

#include "cli/options/nearest_name.h"
#include "hosted/error_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define COMMAND(name) extern const struct command command_##name;
#include "cli/commands.def"
#undef COMMAND

static const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "cli/commands.def"
#undef COMMAND
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

const struct command *commands_get(size_t which)
{
    return which < COMMAND_COUNT ? commands[which] : NULL;
}

/* How many words of the line are the command's name; 0: it is another command. */
static int count_matching_words(const struct command *command, int word_count, char *const *words)
{
    const char *rest = command->name;
    int used = 0;

    while (used < word_count) {
        size_t length = strlen(words[used]);

        if (strncmp(rest, words[used], length) != 0 || (rest[length] != ' ' && rest[length] != '\0'))
            return 0;
        used++;
        if (rest[length] == '\0')
            return used;
        rest += length + 1;
    }
    return 0;
}

static void explain(int word_count, char *const *words, struct gait_error *err)
{
    char typed[128];
    struct nearest_names nearest;

    snprintf(typed, sizeof(typed), "%s", words[0]);
    nearest_names_init(&nearest, typed);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        nearest_names_offer(&nearest, commands[i]->name, strcspn(commands[i]->name, " "));
    /* The first word is right, or alone: look at both. */
    if (nearest.count > 0 && nearest.best[0].distance == 0 && word_count > 1) {
        snprintf(typed, sizeof(typed), "%s %s", words[0], words[1]);
        nearest_names_init(&nearest, typed);
        for (size_t i = 0; i < COMMAND_COUNT; i++)
            nearest_names_offer(&nearest, commands[i]->name, strlen(commands[i]->name));
    }
    if (nearest.count == 0) {
        error_set(err, EINVAL, "cannot run '%s': there is no such command; try 'gait help'", typed);
        return;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strncmp(commands[i]->name, nearest.best[0].name, strlen(nearest.best[0].name)) == 0)
            error_set(err, EINVAL, "cannot run '%s': there is no such command; try 'gait %s', or 'gait help'", typed,
                      commands[i]->name);
}

const struct command *commands_find(int word_count, char *const *words, int *used_out, struct gait_error *err)
{
    if (word_count == 0) {
        error_set(err, EINVAL, "cannot do anything: no command was given; try 'gait help'");
        return NULL;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        int used = count_matching_words(commands[i], word_count, words);

        if (used != 0) {
            *used_out = used;
            return commands[i];
        }
    }
    explain(word_count, words, err);
    return NULL;
}

/* SPDX-License-Identifier: MIT */
/* The gait command: finds the command that is meant, runs it, and says on standard error what went wrong. */
#include "cli/commands.h"
#include "cli/screens/screen.h"
#include "inject/limits.h"
#include "trace/stream_reader.h"

#include <string.h>

/* How many of the words may be --help for us. */
static int count_own_words(int count, char **words)
{
    struct gait_error ignored;
    int used = 0;
    const struct command *command = count == 0 ? NULL : commands_find(count, words, &used, &ignored);

    return command != NULL && command->takes_program && used + 1 < count ? used + 1 : count;
}

/* gait --version and gait --help are what people try first; gait COMMAND --help, or -h, comes next. */
static int replace_usual_options(int count, char **words)
{
    static char help[] = "help", version[] = "version";
    int own_count = count_own_words(count, words);

    if (count > 0 && (strcmp(words[0], "--version") == 0 || strcmp(words[0], "-V") == 0))
        words[0] = version;
    if (count > 0 && (strcmp(words[0], "--help") == 0 || strcmp(words[0], "-h") == 0))
        words[0] = help;
    for (int i = 1; i < own_count && strcmp(words[i], "--") != 0; i++) {
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0) {
            memmove(words + 1, words, (size_t)i * sizeof(words[0]));
            words[0] = help;
            return i + 1;
        }
    }
    return count;
}

static enum command_status run(int count, char **words, struct screen *screen, struct gait_error *err)
{
    const struct command *command;
    int used = 0;

    count = replace_usual_options(count, words);
    command = commands_find(count, words, &used, err);
    if (command == NULL)
        return COMMAND_MISUSED;

    struct command_call call = {count - used, words + used, screen, err};

    return command->run(&call);
}

int main(int argc, char **argv)
{
    struct gait_error err = {0};
    struct screen screen;
    int status;

    limits_survive_large_files();
    screen_init(&screen, stdout);
    status = run(argc - 1, argv + 1, &screen, &err);
    if (status == COMMAND_DONE && screen_finish(&screen, &err) != 0)
        status = COMMAND_FAILED;
    /* A command that ends as the program it ran has nothing to add. */
    if (status != COMMAND_DONE && err.text[0] != '\0')
        fprintf(stderr, "gait: %s\n", err.text);
    else if (stream_error_is_cut_off(&err))
        fprintf(stderr, "gait: warning: %s\n", err.text);
    return status;
}

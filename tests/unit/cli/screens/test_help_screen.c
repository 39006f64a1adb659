/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/screens/help_screen.h"

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/screens/screen.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *put(const struct command *command, unsigned width)
{
    char *text = NULL;
    size_t size_bytes;
    struct screen screen = {.stream = open_memstream(&text, &size_bytes), .width = width};

    help_screen_put(&screen, command);
    fclose(screen.stream);
    return text;
}

static void long_lines_are_wrapped_and_others_stay(void)
{
    const struct command command = {
        .name = "do",
        .arguments = "[--first [A B]] [--second C] WORD...",
        .details = "A short line.\n"
                   "Another one.\n"
                   "\n"
                   "This paragraph has a line that is longer than it may be,\n"
                   "and goes on.\n"
                   "\n"
                   "  --first A    what it does is told at such a length that\n"
                   "               it needs a line more\n"
                   "  --second     is short\n"
                   "\n"
                   "Examples:\n"
                   "  gait do this as it is written here, however long it may be\n",
    };
    char *text = put(&command, 44);

    CHECK_TEXT(text, "usage: gait do [--first [A B]] [--second C]\n"
                     "            WORD...\n"
                     "\n"
                     "A short line.\n"
                     "Another one.\n"
                     "\n"
                     "This paragraph has a line that is longer\n"
                     "than it may be, and goes on.\n"
                     "\n"
                     "  --first A    what it does is told at such\n"
                     "               a length that it needs a line\n"
                     "               more\n"
                     "  --second     is short\n"
                     "\n"
                     "Examples:\n"
                     "  gait do this as it is written here, however long it may be\n");
    free(text);
}

/* Only what is typed cannot be divided. */
static void pages_fit_eighty_columns(void)
{
    const struct command *command;

    for (size_t i = 0; (command = commands_get(i)) != NULL; i++) {
        char *text = put(command, 200);

        for (const char *line = text, *end; *line != '\0'; line = end + 1) {
            end = strchr(line, '\n');
            if (end - line > 80 && strncmp(line, "  -", 3) != 0)
                CHECK_TEXT(line, "no longer than 80 columns");
        }
        free(text);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(long_lines_are_wrapped_and_others_stay),
    CHECK_CASE(pages_fit_eighty_columns),
};

CHECK_MAIN(cases)

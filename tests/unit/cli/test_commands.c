/* SPDX-License-Identifier: MIT */
#include "cli/commands.h"

#include "support/check.h"

#include <stdio.h>
#include <string.h>

static struct gait_error err;

static const struct command *find(const char *first, const char *second, int *used_out)
{
    char *words[2] = {(char *)first, (char *)second};
    int count = second != NULL ? 2 : first != NULL ? 1 : 0;

    err.text[0] = '\0';
    *used_out = 0;
    return commands_find(count, words, used_out, &err);
}

static void commands_are_found_by_one_word_or_two(void)
{
    int used;

    CHECK_TEXT(find("version", "x", &used)->name, "version");
    CHECK_EQUAL(used, 1);
    CHECK_TEXT(find("dump", "relocation", &used)->name, "dump relocation");
    CHECK_EQUAL(used, 2);
}

static void a_wrong_word_gets_a_suggestion(void)
{
    int used;

    CHECK(find("disasemble", NULL, &used) == NULL);
    CHECK(strstr(err.text, "'gait disassemble'") != NULL);
    CHECK(find("dump", "relocatoin", &used) == NULL);
    CHECK(strstr(err.text, "'gait dump relocation'") != NULL);
    CHECK(find("dump", NULL, &used) == NULL);
    CHECK(strstr(err.text, "'gait dump relocation'") != NULL);
    CHECK(find("versions", NULL, &used) == NULL);
    CHECK(strstr(err.text, "'gait version'") != NULL);
    CHECK(find("frobnicate", NULL, &used) == NULL);
    CHECK(strstr(err.text, "'gait help'") != NULL);
    CHECK(find("", NULL, &used) == NULL);
    CHECK(find(NULL, NULL, &used) == NULL);
    CHECK(strstr(err.text, "no command") != NULL);
}

/* At the end, lines that can be typed: some of them are of the command itself. */
static bool has_examples(const struct command *command)
{
    const char *examples = strstr(command->details, "\nExamples:\n");
    char begin[64];

    snprintf(begin, sizeof(begin), "gait %s", command->name);
    for (const char *line = examples == NULL ? "" : examples + strlen("\nExamples:\n"); *line != '\0';
         line += strcspn(line, "\n") + 1)
        if (strncmp(line, "  ", 2) != 0)
            return false;
    return examples != NULL && strstr(examples, begin) != NULL;
}

static void every_command_explains_itself(void)
{
    size_t count = 0;

    for (; commands_get(count) != NULL; count++) {
        const struct command *command = commands_get(count);
        size_t length = strlen(command->details);

        CHECK(command->run != NULL && command->name[0] != '\0' && command->summary[0] != '\0');
        CHECK(length > 0 && command->details[length - 1] == '\n');
        CHECK(has_examples(command));
    }
    CHECK(count >= 4);
    CHECK(commands_get(SIZE_MAX) == NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(commands_are_found_by_one_word_or_two),
    CHECK_CASE(a_wrong_word_gets_a_suggestion),
    CHECK_CASE(every_command_explains_itself),
};

CHECK_MAIN(cases)

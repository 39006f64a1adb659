/* SPDX-License-Identifier: MIT */
#include "cli/help_text.h"

#include "cli/commands.h"
#include "support/check.h"

#include <string.h>

static const char text[] = "Does things.\n"
                           "--dashes at the margin are prose\n"
                           "\n"
                           "  name    a table\n"
                           "  -o, --output DIR    where to\n"
                           "                      --quiet is named here\n"
                           "      --long\n"
                           "\n"
                           "Examples:\n"
                           "  gait do -x\n";

static void lines_are_told_apart(void)
{
    static const enum help_line_kind expected[] = {HELP_PROSE, HELP_PROSE,  HELP_BLANK, HELP_VERBATIM, HELP_OPTION,
                                                   HELP_MORE,  HELP_OPTION, HELP_BLANK, HELP_EXAMPLES, HELP_EXAMPLE};
    struct help_text help;
    struct help_line line;
    size_t count = 0;

    help_text_begin(&help, text);
    for (; help_text_next(&help, &line); count++)
        CHECK_EQUAL(line.kind, expected[count]);
    CHECK_EQUAL(count, sizeof(expected) / sizeof(expected[0]));
}

static void what_is_typed_ends_at_two_spaces(void)
{
    struct help_text help;
    struct help_line line;

    help_text_begin(&help, "  -o, --output DIR    where to\n");
    CHECK(help_text_next(&help, &line));
    CHECK_EQUAL(line.term_bytes, strlen("-o, --output DIR"));
    CHECK_EQUAL(line.length, strlen("-o, --output DIR    where to"));
    CHECK(!help_text_next(&help, &line));
}

static void options_have_several_names(void)
{
    struct help_text help;
    struct help_line line;
    const char *name;
    size_t at = 0, length;

    help_text_begin(&help, "  -o, --output DIR, --syscalls[=SET-X]    where to --not-this\n");
    CHECK(help_text_next(&help, &line));
    CHECK(help_option_next(&line, &at, &name, &length));
    CHECK_EQUAL(length, 2);
    CHECK(help_option_next(&line, &at, &name, &length));
    CHECK(length == 8 && memcmp(name, "--output", 8) == 0);
    CHECK(help_option_next(&line, &at, &name, &length));
    CHECK(length == 10 && memcmp(name, "--syscalls", 10) == 0);
    CHECK(!help_option_next(&line, &at, &name, &length));
}

static void each_help_has_examples_and_nothing_behind_them(void)
{
    for (size_t i = 0; commands_get(i) != NULL; i++) {
        struct help_text help;
        struct help_line line;
        size_t examples = 0;

        help_text_begin(&help, commands_get(i)->details);
        while (help_text_next(&help, &line)) {
            CHECK(examples == 0 || line.kind == HELP_EXAMPLE);
            examples += line.kind == HELP_EXAMPLE;
        }
        CHECK(examples > 0);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(lines_are_told_apart),
    CHECK_CASE(what_is_typed_ends_at_two_spaces),
    CHECK_CASE(options_have_several_names),
    CHECK_CASE(each_help_has_examples_and_nothing_behind_them),
};

CHECK_MAIN(cases)

/* SPDX-License-Identifier: MIT */
#include "cli/options/coverage_options.h"

#include "support/check.h"

#include <unistd.h>

static struct coverage_options options;
static struct gait_error err;

static enum command_status read_words(int count, const char *const *words)
{
    struct command_call call = {count, (char **)words, NULL, &err};

    options = (struct coverage_options){.trace = NULL};
    err.text[0] = '\0';
    return coverage_options_read(&call, &options);
}

#define READ(...)                                                                                                      \
    read_words(sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *), (const char *const[]){__VA_ARGS__})

static void options_come_in_any_order(void)
{
    CHECK_EQUAL(READ("there"), COMMAND_DONE);
    CHECK_TEXT(options.trace, "there");
    CHECK(options.choice.filter == NULL && !options.choice.functions && !options.choice.missed && !options.lines &&
          !options.json);
    CHECK_EQUAL(READ("--functions", "there", "--missed", "--filter", "a*", "--lines", "--json"), COMMAND_DONE);
    CHECK_TEXT(options.trace, "there");
    CHECK_TEXT(options.choice.filter, "a*");
    CHECK(options.choice.functions && options.choice.missed && options.lines && options.json);
    CHECK_EQUAL(READ("--filter=b", "--", "--there"), COMMAND_DONE);
    CHECK_TEXT(options.trace, "--there");
    CHECK_TEXT(options.choice.filter, "b");
}

static void what_is_wrong_is_told(void)
{
    /* Where there is no last trace. */
    CHECK_EQUAL(chdir("/"), 0);
    CHECK_EQUAL(READ("--json"), COMMAND_MISUSED);
    CHECK(strstr(err.text, "TRACE is missing") != NULL);
    CHECK_EQUAL(READ("a", "b"), COMMAND_MISUSED);
    CHECK(strstr(err.text, "'b': 'gait coverage' takes one trace") != NULL);
    CHECK_EQUAL(READ("a", "--filter"), COMMAND_MISUSED);
    CHECK(strstr(err.text, "its value is missing") != NULL);
    CHECK_EQUAL(READ("a", "--mised"), COMMAND_MISUSED);
    CHECK(strstr(err.text, "try '--missed'") != NULL);
    CHECK_EQUAL(READ("a", "-x"), COMMAND_MISUSED);
    CHECK(strstr(err.text, "no such option") != NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(options_come_in_any_order),
    CHECK_CASE(what_is_wrong_is_told),
};

CHECK_MAIN(cases)

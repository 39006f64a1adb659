/* SPDX-License-Identifier: MIT */
#include "cli/options/export_options.h"

#include "support/check.h"

#include <unistd.h>

static struct export_options options;
static struct gait_error err;

static enum command_status read_words(char **words)
{
    struct command_call call = {.arguments = words, .error = &err};

    while (words[call.argument_count] != NULL)
        call.argument_count++;
    err.text[0] = '\0';
    return export_options_read(&call, &options);
}

#define READ(...) read_words((char *[]){__VA_ARGS__, NULL})

static void all_options_are_read(void)
{
    CHECK_EQUAL(
        READ("-f", "chrome", "trace", "-o", "file", "--thread", "worker*", "--thread=12", "--from", "1.5ms", "--to=2s"),
        COMMAND_DONE);
    CHECK_TEXT(options.format->name, "chrome");
    CHECK_TEXT(options.trace, "trace");
    CHECK_TEXT(options.output, "file");
    CHECK_EQUAL(options.thread_count, 2);
    CHECK_TEXT(options.threads[0], "worker*");
    CHECK_TEXT(options.threads[1], "12");
    CHECK_EQUAL(options.from_ns, 1500000);
    CHECK_EQUAL(options.to_ns, 2000000000);
    export_options_deinit(&options);
}

static void what_is_not_given_is_all_of_it_to_standard_output(void)
{
    CHECK_EQUAL(READ("--format=folded", "--", "-trace"), COMMAND_DONE);
    CHECK_TEXT(options.trace, "-trace");
    CHECK(options.output == NULL);
    CHECK_EQUAL(options.thread_count, 0);
    CHECK_EQUAL(options.from_ns, 0);
    CHECK_EQUAL(options.to_ns, UINT64_MAX);
    export_options_deinit(&options);
    CHECK_EQUAL(READ("-ffolded", "-o-", "trace"), COMMAND_DONE);
    CHECK(options.output == NULL);
    CHECK(!options.has_events);
    export_options_deinit(&options);
    CHECK_EQUAL(READ("-fsqlite", "--events", "trace"), COMMAND_DONE);
    CHECK(options.has_events);
    export_options_deinit(&options);
}

static void check_refusal(char **words, const char *text)
{
    CHECK_EQUAL(read_words(words), COMMAND_MISUSED);
    if (strstr(err.text, text) == NULL)
        CHECK_TEXT(err.text, text);
}

#define REFUSES(text, ...) check_refusal((char *[]){__VA_ARGS__, NULL}, text)

static void what_is_wrong_is_said_with_what_would_be_right(void)
{
    REFUSES("did you mean 'speedscope'?", "-f", "speedscop", "trace");
    REFUSES("'gait help export' for the list", "-f", "xyzzy", "trace");
    REFUSES("try '--thread', or 'gait help export'", "-f", "chrome", "--thraed", "1", "trace");
    REFUSES("'gait export' has no such option; try 'gait help export'", "-q");
    REFUSES("cannot use '--to': its value is missing", "trace", "--to");
    REFUSES("cannot use '--from x': it is no time since the beginning", "--from", "x");
    /* Where there is no last trace. */
    CHECK_EQUAL(chdir("/"), 0);
    REFUSES("TRACE is missing", "-f", "chrome");
    REFUSES("takes one trace", "-f", "chrome", "a", "b");
    REFUSES("no format was given", "trace");
    REFUSES("folded has calls only", "-f", "folded", "--events", "trace");
    REFUSES("the end is not after the beginning", "-f", "chrome", "--from", "2s", "--to", "2s", "trace");
}

static const struct check_case cases[] = {
    CHECK_CASE(all_options_are_read),
    CHECK_CASE(what_is_not_given_is_all_of_it_to_standard_output),
    CHECK_CASE(what_is_wrong_is_said_with_what_would_be_right),
};

CHECK_MAIN(cases)

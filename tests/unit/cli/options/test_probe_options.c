/* SPDX-License-Identifier: MIT */
#include "cli/options/probe_options.h"

#include "support/check.h"

static struct probe_options options;
static struct gait_error err;
static char *words[16];

static enum command_status parse_words(const char *const *given)
{
    struct command_call call = {.arguments = words, .error = &err};

    while (given[call.argument_count] != NULL) {
        words[call.argument_count] = (char *)(uintptr_t)given[call.argument_count];
        call.argument_count++;
    }
    words[call.argument_count] = NULL;
    return probe_options_parse(&call, &options);
}

#define PARSE(...) parse_words((const char *const[]){__VA_ARGS__, NULL})

static void probes_stand_anywhere(void)
{
    CHECK_EQUAL(PARSE("software:a", "--stack", "software:b", "-o", "dir", "--", "ls", "-l", "--count"), COMMAND_DONE);
    CHECK_EQUAL(options.spec_count, 2);
    CHECK(options.specs[2] == NULL);
    CHECK_TEXT(options.specs[0], "software:a");
    CHECK_TEXT(options.specs[1], "software:b");
    CHECK_TEXT(options.output, "dir");
    CHECK(options.with_stacks && !options.is_counting);
    CHECK_TEXT(options.program[0], "ls");
    CHECK_TEXT(options.program[2], "--count");
}

static void counting_has_three_ways(void)
{
    CHECK_EQUAL(PARSE("x:y", "--by", "comm"), COMMAND_DONE);
    CHECK(options.is_counting);
    CHECK_EQUAL(PARSE("x:y", "--hist=len", "--interval", "2"), COMMAND_DONE);
    CHECK_TEXT(options.measure, "len");
    CHECK_EQUAL(options.interval_seconds, 2);
    CHECK_EQUAL(PARSE("x:y", "--count", "-p", "12"), COMMAND_DONE);
    CHECK_EQUAL(options.pid, 12);
}

static void what_does_not_fit_is_refused(void)
{
    CHECK_EQUAL(PARSE("--stack"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("-l"), COMMAND_DONE);
    CHECK_EQUAL(PARSE("x:y", "--nonsense"), COMMAND_MISUSED);
    CHECK(strstr(err.text, "--nonsense") != NULL);
    CHECK_EQUAL(PARSE("x:y", "-p"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("x:y", "-p", "0"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("x:y", "-p", "1", "-a"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("x:y", "-p", "1", "--", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("x:y", "-a", "--", "ls"), COMMAND_DONE);
    CHECK_EQUAL(PARSE("x:y", "--count", "-o", "dir"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("x:y", "--count", "--stack"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("x:y", "--interval", "1"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("x:y", "--limit", "many"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("x:y", "--if", ""), COMMAND_MISUSED);
}

static const struct check_case cases[] = {
    CHECK_CASE(probes_stand_anywhere),
    CHECK_CASE(counting_has_three_ways),
    CHECK_CASE(what_does_not_fit_is_refused),
};

CHECK_MAIN(cases)

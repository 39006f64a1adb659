/* SPDX-License-Identifier: MIT */
#include "cli/record_options.h"

#include "gait/stalker.h"
#include "ring/ring_layout.h"
#include "support/check.h"

#include <stdlib.h>

static struct gait_error err;
static struct record_options options;

static enum command_status parse(char **words)
{
    struct command_call call = {.arguments = words, .error = &err};

    free(options.words);
    while (call.arguments[call.argument_count] != NULL)
        call.argument_count++;
    err.text[0] = '\0';
    return record_options_parse(&call, "spawn", &options);
}

#define PARSE(...) parse((char *[]){__VA_ARGS__, NULL})

static void without_options_there_are_defaults(void)
{
    CHECK_EQUAL(PARSE("ls", "-l"), COMMAND_DONE);
    CHECK_TEXT(options.output, "./traces");
    CHECK_EQUAL(options.events, GAIT_EVENT_CALL | GAIT_EVENT_RET);
    CHECK_EQUAL(options.overflow, -1);
    CHECK(!options.with_times && !options.compress && !options.is_quiet);
    CHECK_EQUAL(options.rest_count, 2);
    CHECK_TEXT(options.rest[1], "-l");
}

static void options_are_read_up_to_the_program(void)
{
    CHECK_EQUAL(PARSE("-o", "x", "--follow=block,exec", "--times", "--overflow", "drop", "--buffer", "64K",
                      "--duration", "3", "--compress", "--quiet", "--", "ls", "--times"),
                COMMAND_DONE);
    CHECK_TEXT(options.output, "x");
    CHECK_EQUAL(options.events, GAIT_EVENT_BLOCK | GAIT_EVENT_EXEC);
    CHECK_EQUAL(options.overflow, RING_DROP);
    CHECK_EQUAL(options.buffer_bytes, 65536);
    CHECK_EQUAL(options.duration_seconds, 3);
    CHECK(options.with_times && options.compress && options.is_quiet);
    CHECK_EQUAL(options.rest_count, 2);
    CHECK_TEXT(options.rest[0], "ls");
}

static void all_events_have_names(void)
{
    CHECK_EQUAL(PARSE("--follow", "none"), COMMAND_DONE);
    CHECK_EQUAL(options.events, 0);
    CHECK_EQUAL(PARSE("--follow", "call,ret,block,exec,compile"), COMMAND_DONE);
    CHECK_EQUAL(options.events, 0x1f);
    CHECK_EQUAL(PARSE("--buffer", "8M", "--overflow", "block"), COMMAND_DONE);
    CHECK_EQUAL(options.buffer_bytes, 8u << 20);
    CHECK_EQUAL(options.overflow, RING_BLOCK);
}

static void check_refused(char **words, const char *why)
{
    CHECK_EQUAL(parse(words), COMMAND_MISUSED);
    CHECK(strstr(err.text, why) != NULL);
}

#define CHECK_REFUSED(why, ...) check_refused((char *[]){__VA_ARGS__, NULL}, why)

static void what_is_wrong_is_told(void)
{
    CHECK_REFUSED("--follow is calls; it should be", "--follow", "calls");
    CHECK_REFUSED("--follow is call,", "--follow", "call,");
    CHECK_REFUSED("--overflow is wait", "--overflow", "wait");
    CHECK_REFUSED("--buffer is 1", "--buffer", "1");
    CHECK_REFUSED("--buffer is 9M", "--buffer", "9M");
    CHECK_REFUSED("--buffer is 64KB", "--buffer", "64KB");
    CHECK_REFUSED("--buffer is -1", "--buffer", "-1");
    CHECK_REFUSED("--duration is 0", "--duration", "0");
    CHECK_REFUSED("--duration is soon", "--duration", "soon");
    CHECK_REFUSED("--output is ", "--output", "");
    CHECK_REFUSED("--nonsense is no option", "--nonsense", "ls");
    CHECK_REFUSED("--follow needs a value", "--follow");
}

static const struct check_case cases[] = {
    CHECK_CASE(without_options_there_are_defaults),
    CHECK_CASE(options_are_read_up_to_the_program),
    CHECK_CASE(all_events_have_names),
    CHECK_CASE(what_is_wrong_is_told),
};

CHECK_MAIN(cases)

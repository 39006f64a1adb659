/* SPDX-License-Identifier: MIT */
#include "cli/options/syscalls_options.h"

#include "support/check.h"

#include <sys/syscall.h>

static struct syscalls_options options;
static struct gait_error err;

static enum command_status parse(const char *const *words)
{
    char *arguments[16];
    struct command_call call = {.arguments = arguments, .error = &err};

    while (words[call.argument_count] != NULL) {
        arguments[call.argument_count] = (char *)words[call.argument_count];
        call.argument_count++;
    }
    return syscalls_options_parse(&call, &options);
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

static void options_are_those_of_strace(void)
{
    CHECK_EQUAL(PARSE("-ttTf", "-s100", "-o", "x", "-e", "trace=read", "ls", "-l"), COMMAND_DONE);
    CHECK_EQUAL(options.lines.times, SYSTEM_CALL_TIMES_MICROSECONDS);
    CHECK_EQUAL(options.lines.has_durations && options.follows, 1);
    CHECK_EQUAL(options.lines.text.string_bytes, 100);
    CHECK_TEXT(options.output, "x");
    CHECK_EQUAL(system_call_set_has(&options.set, SYS_read) && !system_call_set_has(&options.set, SYS_write), 1);
    CHECK_EQUAL(PARSE("-p", "12,13", "-e", "read,write", "-c"), COMMAND_DONE);
    CHECK_EQUAL(options.pid_count == 2 && options.pids[1] == 13 && options.only_counts, 1);
    CHECK_EQUAL(PARSE("-e", "inject=read:error=EIO", "--json", "--via", "ptrace", "--", "ls"), COMMAND_DONE);
    CHECK_EQUAL(options.injections.count == 1 && options.is_json, 1);
    CHECK_EQUAL(PARSE("-ttt", "ls"), COMMAND_DONE);
    CHECK_EQUAL(options.lines.times, SYSTEM_CALL_TIMES_SINCE_1970);
}

static void wrong_ones_are_explained(void)
{
    CHECK_EQUAL(parse((const char *const[]){NULL}), COMMAND_MISUSED);
    CHECK_EQUAL(strstr(err.text, "which program") != NULL, 1);
    CHECK_EQUAL(PARSE("-Z", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(strstr(err.text, "'-Z': there is no such option") != NULL, 1);
    CHECK_EQUAL(PARSE("--jsno", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(strstr(err.text, "try '--json'") != NULL, 1);
    CHECK_EQUAL(PARSE("-s"), COMMAND_MISUSED);
    CHECK_EQUAL(strstr(err.text, "a value has to follow") != NULL, 1);
    CHECK_EQUAL(PARSE("-s", "many", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("-p", "me"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("-p", "1", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("-e", "trace=opne", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(strstr(err.text, "did you mean open") != NULL, 1);
    CHECK_EQUAL(PARSE("-e", "what=1", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("-e", "inject=read:error=EWHAT", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("--via", "magic", "ls"), COMMAND_MISUSED);
}

static const struct check_case cases[] = {
    CHECK_CASE(options_are_those_of_strace),
    CHECK_CASE(wrong_ones_are_explained),
};

CHECK_MAIN(cases)

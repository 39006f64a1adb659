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
    CHECK_EQUAL(options.lines.times == SYSTEM_CALL_TIMES_OF_DAY && options.lines.time_digits == 6, 1);
    CHECK_EQUAL(options.lines.has_durations && options.follows, 1);
    CHECK_EQUAL(options.lines.text.string_bytes, 100);
    CHECK_TEXT(options.output.name, "x");
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
    CHECK_EQUAL(PARSE("-M", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(strstr(err.text, "'-M': there is no such option") != NULL, 1);
    CHECK_EQUAL(PARSE("--outp", "x", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(strstr(err.text, "it may be --output, ") != NULL, 1);
    CHECK_EQUAL(PARSE("--json=x", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(strstr(err.text, "takes no value") != NULL, 1);
    CHECK_EQUAL(PARSE("--jsno", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(strstr(err.text, "try '--json'") != NULL, 1);
    CHECK_EQUAL(PARSE("-s"), COMMAND_MISUSED);
    CHECK_EQUAL(strstr(err.text, "a value has to follow") != NULL, 1);
    CHECK_EQUAL(PARSE("-s", "many", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("-p", "me"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("-b", "read", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("-I", "5", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("-ff", "-c", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("-ff", "-o", "|cat", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("-c", "-C", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("-D", "-p", "1"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("--via", "inside", "-i", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(strstr(err.text, "'-i': that needs calls that are stopped") != NULL, 1);
    CHECK_EQUAL(PARSE("-e", "trace=opne", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(strstr(err.text, "did you mean open") != NULL, 1);
    CHECK_EQUAL(PARSE("-e", "what=1", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("-e", "inject=read:error=EWHAT", "ls"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("--via", "magic", "ls"), COMMAND_MISUSED);
}

static void what_has_to_stop_the_program_does(void)
{
    static const char *const stopping[] = {"-i", "-Pfile", "-D", "-bexecve", "-esignal=usr1", "-eread=1", "-I1"};

    for (size_t i = 0; i < sizeof(stopping) / sizeof(stopping[0]); i++) {
        CHECK_EQUAL(PARSE(stopping[i], "ls"), COMMAND_DONE);
        CHECK_TEXT(options.source->name, "ptrace");
        syscalls_options_deinit(&options);
    }
    CHECK_EQUAL(PARSE("-p", "1", "ls"), COMMAND_DONE);
    CHECK_TEXT(options.source->name, "ptrace");
    CHECK_EQUAL(PARSE("-esignal=none", "-zTnfrttt", "-I3", "--seccomp-bpf", "ls"), COMMAND_DONE);
    CHECK_TEXT(options.source->name, "inside");
}

static void long_options_take_values_in_both_ways(void)
{
    CHECK_EQUAL(PARSE("--output=x", "--trace", "read", "--strings-in-hex", "--decode-fds=socket", "--quiet=exit", "ls"),
                COMMAND_DONE);
    CHECK_TEXT(options.output.name, "x");
    CHECK_EQUAL(options.lines.text.hex, QUOTED_HEX);
    CHECK_EQUAL(options.fd_details, FD_DETAIL_SOCKET);
    CHECK_EQUAL(options.lines.hides_ends && !options.lines.hides_replacements, 1);
    CHECK_EQUAL(PARSE("--follow", "--summary-sort-by=calls", "--string-l=7", "ls"), COMMAND_DONE);
    CHECK_EQUAL(options.follows && options.table.sort == SYSTEM_CALL_COLUMN_CALLS, 1);
    CHECK_EQUAL(options.lines.text.string_bytes, 7);
    CHECK_EQUAL(PARSE("-ff", "-o", "x", "-A", "ls"), COMMAND_DONE);
    CHECK_EQUAL(options.follows && options.output.is_separate && options.output.appends, 1);
    CHECK_EQUAL(PARSE("-h"), COMMAND_DONE);
    CHECK_EQUAL(options.request, SYSCALLS_REQUEST_HELP);
    CHECK_EQUAL(PARSE("-V"), COMMAND_DONE);
    CHECK_EQUAL(options.request, SYSCALLS_REQUEST_VERSION);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_has_to_stop_the_program_does),
    CHECK_CASE(long_options_take_values_in_both_ways),
    CHECK_CASE(options_are_those_of_strace),
    CHECK_CASE(wrong_ones_are_explained),
};

CHECK_MAIN(cases)

/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/output/system_call_lines.h"

#include "support/check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>

static char *text;
static size_t text_bytes;
static FILE *stream;
static struct system_call_lines *lines;

static void begin(struct system_call_lines_options options)
{
    options.text.string_bytes = 32;
    options.result_column = options.result_column == 0 ? 40 : options.result_column;
    options.duration_digits = options.relative_digits = 6;
    stream = open_memstream(&text, &text_bytes);
    lines = system_call_lines_create(stream, &options);
}

static const char *finish(void)
{
    static char copy[4096];

    system_call_lines_destroy(lines);
    fclose(stream);
    snprintf(copy, sizeof(copy), "%s", text);
    free(text);
    return copy;
}

static void put(int tid, enum system_call_event_kind kind, uint64_t number, int64_t result)
{
    const struct system_call_event event = {.kind = kind,
                                            .tid = tid,
                                            .pid = tid,
                                            .number = number,
                                            .arguments = {3},
                                            .result = result,
                                            .time_ns = 1000000001234567890,
                                            .system_ns = 12345};

    system_call_lines_put(lines, &event);
}

static void results_are_in_a_column(void)
{
    begin((struct system_call_lines_options){.ids = SYSTEM_CALL_IDS_NEVER, .has_durations = true});
    put(1, SYSTEM_CALL_ENTERED, SYS_close, 0);
    put(1, SYSTEM_CALL_LEFT, SYS_close, 0);
    CHECK_TEXT(finish(), "close(3)                                = 0 <0.000012>\n");
}

static void others_come_in_between(void)
{
    begin((struct system_call_lines_options){.ids = SYSTEM_CALL_IDS_ALWAYS});
    put(1, SYSTEM_CALL_ENTERED, SYS_read, 0);
    put(2, SYSTEM_CALL_ENTERED, SYS_close, 0);
    put(1, SYSTEM_CALL_LEFT, SYS_read, 0);
    put(2, SYSTEM_CALL_LEFT, SYS_close, 0);
    CHECK_TEXT(finish(), "1     read(3,  <unfinished ...>\n"
                         "2     close(3 <unfinished ...>\n"
                         "1     <... read resumed>NULL, 0)        = 0\n"
                         "2     <... close resumed>)              = 0\n");
}

static void ends_and_signals_are_told(void)
{
    siginfo_t info = {.si_signo = SIGUSR1, .si_code = SI_USER};
    struct system_call_event event = {.kind = SYSTEM_CALL_SIGNALLED, .tid = 1, .siginfo = &info, .signal = SIGUSR1};

    begin((struct system_call_lines_options){.ids = SYSTEM_CALL_IDS_WHERE_SEVERAL});
    system_call_lines_put(lines, &event);
    put(1, SYSTEM_CALL_ENTERED, SYS_pause, 0);
    event = (struct system_call_event){
        .kind = SYSTEM_CALL_LEFT, .tid = 1, .number = SYS_pause, .flags = SYSTEM_CALL_NEVER_RETURNS};
    system_call_lines_put(lines, &event);
    event = (struct system_call_event){.kind = SYSTEM_CALL_EXITED, .tid = 1, .status = SIGKILL};
    system_call_lines_put(lines, &event);
    CHECK_TEXT(finish(), "--- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_USER, si_pid=0, si_uid=0} ---\n"
                         "pause( <unfinished ...>)                = ?\n"
                         "+++ killed by SIGKILL +++\n");
}

static void times_come_first(void)
{
    setenv("TZ", "UTC", 1);
    begin((struct system_call_lines_options){.times = SYSTEM_CALL_TIMES_OF_DAY, .time_digits = 6});
    put(1, SYSTEM_CALL_ENTERED, SYS_close, 0);
    put(1, SYSTEM_CALL_LEFT, SYS_close, 0);
    CHECK_TEXT(finish(), "01:46:41.234567 close(3)                = 0\n");
    begin((struct system_call_lines_options){.times = SYSTEM_CALL_TIMES_SINCE_1970, .time_digits = 3});
    put(1, SYSTEM_CALL_ENTERED, SYS_close, 0);
    put(1, SYSTEM_CALL_LEFT, SYS_close, 0);
    CHECK_TEXT(finish(), "1000000001.234 close(3)                 = 0\n");
    begin((struct system_call_lines_options){.is_relative = true});
    put(1, SYSTEM_CALL_ENTERED, SYS_close, 0);
    put(1, SYSTEM_CALL_LEFT, SYS_close, 0);
    CHECK_TEXT(finish(), "     0.000000 close(3)                  = 0\n");
    begin((struct system_call_lines_options){.times = SYSTEM_CALL_TIMES_OF_DAY, .is_relative = true});
    put(1, SYSTEM_CALL_ENTERED, SYS_close, 0);
    put(1, SYSTEM_CALL_LEFT, SYS_close, 0);
    CHECK_TEXT(finish(), "01:46:41 (+     0.000000) close(3)      = 0\n");
}

/* Sources that see calls only when they have ended say when they began. */
static void times_are_those_of_beginnings(void)
{
    const struct system_call_event event = {.kind = SYSTEM_CALL_LEFT,
                                            .tid = 1,
                                            .number = SYS_close,
                                            .entered_ns = 1000000001000000000,
                                            .time_ns = 1000000009000000000};

    begin((struct system_call_lines_options){.times = SYSTEM_CALL_TIMES_SINCE_1970});
    system_call_lines_put(lines, &event);
    CHECK_TEXT(finish(), "1000000001 close(0)                     = 0\n");
}

static void calls_are_shown_by_how_they_end(void)
{
    begin((struct system_call_lines_options){.ids = SYSTEM_CALL_IDS_ALWAYS,
                                             .filter.hidden_statuses = SYSTEM_CALL_STATUS_SUCCESSFUL});
    put(1, SYSTEM_CALL_ENTERED, SYS_close, 0);
    put(2, SYSTEM_CALL_ENTERED, SYS_close, 0);
    put(1, SYSTEM_CALL_LEFT, SYS_close, 0);
    put(2, SYSTEM_CALL_LEFT, SYS_close, -9);
    put(1, SYSTEM_CALL_ENTERED, SYS_close, 0);
    put(1, SYSTEM_CALL_DETACHED, SYS_close, 0);
    CHECK_TEXT(finish(), "2     close(3)                          = -1 EBADF (Bad file descriptor)\n"
                         "1     close(3 <detached ...>\n");
}

static void numbers_and_places_come_before_calls(void)
{
    const struct system_call_event event = {
        .kind = SYSTEM_CALL_LEFT, .tid = 1, .number = SYS_close, .pc = 0x7f0000001234};

    begin((struct system_call_lines_options){.has_numbers = true, .has_places = true, .result_column = 1});
    system_call_lines_put(lines, &event);
    put(1, SYSTEM_CALL_EXITED, 0, 0);
    CHECK_TEXT(finish(), "[   3] [00007f0000001234] close(0) = 0\n"
                         "[   3] [????????????????] +++ exited with 0 +++\n");
}

static void what_is_hidden_is_not_told(void)
{
    siginfo_t info = {.si_signo = SIGUSR1, .si_code = SI_USER};
    const struct system_call_event event = {
        .kind = SYSTEM_CALL_SIGNALLED, .tid = 1, .siginfo = &info, .signal = SIGUSR1};

    begin((struct system_call_lines_options){.hides_ends = true, .filter.hidden_signals = 1 << (SIGUSR1 - 1)});
    system_call_lines_put(lines, &event);
    put(1, SYSTEM_CALL_EXITED, 0, 0);
    CHECK_TEXT(finish(), "");
}

static void open_lines_are_ended(void)
{
    begin((struct system_call_lines_options){.ids = SYSTEM_CALL_IDS_NEVER});
    put(1, SYSTEM_CALL_ENTERED, SYS_read, 0);
    system_call_lines_detach(lines);
    CHECK_TEXT(finish(), "read(3,  <detached ...>\n");
}

static const struct check_case cases[] = {
    CHECK_CASE(results_are_in_a_column),
    CHECK_CASE(others_come_in_between),
    CHECK_CASE(ends_and_signals_are_told),
    CHECK_CASE(times_come_first),
    CHECK_CASE(open_lines_are_ended),
    CHECK_CASE(times_are_those_of_beginnings),
    CHECK_CASE(calls_are_shown_by_how_they_end),
    CHECK_CASE(numbers_and_places_come_before_calls),
    CHECK_CASE(what_is_hidden_is_not_told),
};

CHECK_MAIN(cases)

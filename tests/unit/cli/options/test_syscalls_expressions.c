/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/options/syscalls_expressions.h"

#include "support/check.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

static struct syscalls_options options;
static struct gait_error err;
static const struct command_call call = {.error = &err};

static enum command_status read_text(const char *text)
{
    memset(&options, 0, sizeof(options));
    return syscalls_expression_read(&call, &options, text);
}

static void qualifiers_have_several_names(void)
{
    CHECK_EQUAL(read_text("read,write"), COMMAND_DONE);
    CHECK_EQUAL(system_call_set_has(&options.set, SYS_write), 1);
    CHECK_EQUAL(read_text("t=read@64,close@32"), COMMAND_DONE);
    CHECK_EQUAL(system_call_set_has(&options.set, SYS_read) && !system_call_set_has(&options.set, SYS_close), 1);
    CHECK_EQUAL(read_text("a=stat"), COMMAND_DONE);
    CHECK_EQUAL(system_call_set_has(&options.text_sets.whole, SYS_read), 1);
    CHECK_EQUAL(system_call_set_has(&options.text_sets.whole, SYS_stat), 0);
    CHECK_EQUAL(read_text("verbose=stat"), COMMAND_DONE);
    CHECK_EQUAL(system_call_set_has(&options.text_sets.shallow, SYS_read), 1);
    CHECK_EQUAL(read_text("x=stat"), COMMAND_DONE);
    CHECK_EQUAL(system_call_set_has(&options.text_sets.numbers, SYS_stat), 1);
    CHECK_EQUAL(read_text("trcae=read"), COMMAND_MISUSED);
    CHECK_EQUAL(strstr(err.text, "did you mean trace=") != NULL, 1);
}

static void signals_are_hidden_or_stop(void)
{
    CHECK_EQUAL(read_text("signal=none"), COMMAND_DONE);
    CHECK_EQUAL(options.lines.filter.hidden_signals == UINT64_MAX && options.stopping == NULL, 1);
    CHECK_EQUAL(read_text("s=!usr1,SIGTERM"), COMMAND_DONE);
    CHECK_EQUAL(options.lines.filter.hidden_signals, 1ull << (SIGUSR1 - 1) | 1ull << (SIGTERM - 1));
    CHECK_EQUAL(options.stopping != NULL, 1);
    CHECK_EQUAL(read_text("signal=FOO"), COMMAND_MISUSED);
    CHECK_EQUAL(read_text("signal=!"), COMMAND_MISUSED);
}

static void words_are_lists(void)
{
    CHECK_EQUAL(read_text("status=failed,unfinished"), COMMAND_DONE);
    CHECK_EQUAL(options.lines.filter.hidden_statuses, SYSTEM_CALL_STATUS_ALL & ~6u);
    CHECK_EQUAL(read_text("status=!failed"), COMMAND_DONE);
    CHECK_EQUAL(options.lines.filter.hidden_statuses, SYSTEM_CALL_STATUS_FAILED);
    CHECK_EQUAL(read_text("quiet=superseded"), COMMAND_DONE);
    CHECK_EQUAL(options.lines.hides_replacements && !options.lines.hides_ends, 1);
    CHECK_EQUAL(read_text("decode-fds=socket,dev"), COMMAND_DONE);
    CHECK_EQUAL(options.fd_details, FD_DETAIL_SOCKET | FD_DETAIL_DEVICE);
    CHECK_EQUAL(read_text("decode-pids=comm"), COMMAND_DONE);
    CHECK_EQUAL(options.lines.has_names, 1);
    CHECK_EQUAL(read_text("status=bogus"), COMMAND_MISUSED);
    CHECK_EQUAL(strstr(err.text, "it takes successful, failed, ") != NULL, 1);
    CHECK_EQUAL(read_text("kvm=vcpu"), COMMAND_MISUSED);
    CHECK_EQUAL(read_text("read=x"), COMMAND_MISUSED);
    syscalls_quiet_more(&options, 1);
    CHECK_EQUAL(options.lines.hides_ends, 0);
    syscalls_quiet_more(&options, 2);
    CHECK_EQUAL(options.lines.hides_ends && !options.lines.hides_replacements, 1);
}

static void times_have_formats_and_precisions(void)
{
    unsigned value = 7;

    memset(&options, 0, sizeof(options));
    CHECK_EQUAL(syscalls_timestamps_read(&call, &options, "format:unix,precision:ns"), COMMAND_DONE);
    CHECK_EQUAL(options.lines.times == SYSTEM_CALL_TIMES_SINCE_1970 && options.lines.time_digits == 9, 1);
    CHECK_EQUAL(syscalls_timestamps_read(&call, &options, "ms"), COMMAND_DONE);
    CHECK_EQUAL(options.lines.times == SYSTEM_CALL_TIMES_OF_DAY && options.lines.time_digits == 3, 1);
    CHECK_EQUAL(syscalls_timestamps_read(&call, &options, "none"), COMMAND_DONE);
    CHECK_EQUAL(options.lines.times, SYSTEM_CALL_TIMES_NONE);
    CHECK_EQUAL(syscalls_timestamps_read(&call, &options, "epoch"), COMMAND_MISUSED);
    CHECK_EQUAL(syscalls_precision_read(&call, "-x ", "us", &value), COMMAND_DONE);
    CHECK_EQUAL(value, 6);
    CHECK_EQUAL(syscalls_precision_read(&call, "-x ", "h", &value), COMMAND_MISUSED);
    CHECK_EQUAL(syscalls_number_read(&call, "-x ", "12", 20, &value), COMMAND_DONE);
    CHECK_EQUAL(value, 12);
    CHECK_EQUAL(syscalls_number_read(&call, "-x ", "21", 20, &value), COMMAND_MISUSED);
    CHECK_EQUAL(syscalls_number_read(&call, "-x ", "1x", 20, &value), COMMAND_MISUSED);
    CHECK_EQUAL(syscalls_word_read(&call, "-x ", "b", "a|b", &value), COMMAND_DONE);
    CHECK_EQUAL(value, 1);
    CHECK_EQUAL(syscalls_value_refuse(&call, "-x ", "1", "why"), COMMAND_MISUSED);
    CHECK_TEXT(err.text, "cannot use '-x 1': why; see gait help syscalls");
}

static const struct check_case cases[] = {
    CHECK_CASE(qualifiers_have_several_names),
    CHECK_CASE(signals_are_hidden_or_stop),
    CHECK_CASE(words_are_lists),
    CHECK_CASE(times_have_formats_and_precisions),
};

CHECK_MAIN(cases)

/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/result_text.h"

#include "syscalls/constant_set.h"
#include "syscalls/errno_name.h"
#include "syscalls/file_text.h"
#include "syscalls/poll_text.h"
#include "syscalls/signal_text.h"
#include "syscalls/time_text.h"

#include <fcntl.h>
#include <time.h>

#define FIRST_RESTART 512
#define LAST_RESTART  516

static void put_error(struct text_writer *out, int number)
{
    const char *name = errno_name(number), *meaning = errno_meaning(number);

    if (number >= FIRST_RESTART && number <= LAST_RESTART && name != NULL) {
        text_format(out, "? %s (%s)", name, meaning);
        return;
    }
    if (name == NULL)
        text_format(out, "-1 (errno %d)", number);
    else
        text_format(out, "-1 %s", name);
    if (name != NULL && meaning != NULL)
        text_format(out, " (%s)", meaning);
}

static void put_fcntl(const struct call_text *text, uint64_t result)
{
    switch ((uint32_t)text->arguments[1]) {
    case F_GETFL:
        call_text_put_hex(text, result);
        text_put_string(text->out, " (flags ");
        file_text_put_open_flags(text->out, result);
        text_put_char(text->out, ')');
        break;
    case F_GETFD:
        call_text_put_hex(text, result);
        if (result != 0) {
            text_put_string(text->out, " (flags ");
            constant_set_put_flags(text->out, SYSTEM_CALL_SET_fd_flags, result);
            text_put_char(text->out, ')');
        }
        break;
    case F_GET_SEALS:
        call_text_put_hex(text, result);
        text_put_string(text->out, result == 0 ? "" : " (seals ");
        if (result != 0) {
            constant_set_put_flags(text->out, SYSTEM_CALL_SET_seals, result);
            text_put_char(text->out, ')');
        }
        break;
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        call_text_put_fd(text, (int)result);
        break;
    default:
        text_put_signed(text->out, (int64_t)result);
        break;
    }
}

static void put_named(const struct call_text *text, enum system_call_constants set, uint64_t result)
{
    text_format(text->out, "%lu (", (unsigned long)result);
    constant_set_put_choice(text->out, set, result);
    text_put_char(text->out, ')');
}

static void put_time(const struct call_text *text, int64_t result)
{
    time_t time = (time_t)result;
    struct tm parts;
    char date[64];

    text_put_signed(text->out, result);
    if (localtime_r(&time, &parts) != NULL && strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S%z", &parts) != 0)
        text_format(text->out, " (%s)", date);
}

static void put_success(const struct call_text *text, unsigned kind)
{
    uint64_t result = (uint64_t)text->result;

    switch (kind) {
    case SYSTEM_CALL_ADDRESS:
    case SYSTEM_CALL_HEX:
        call_text_put_hex(text, result);
        break;
    case SYSTEM_CALL_MODE:
        call_text_put_octal(text, result);
        break;
    case SYSTEM_CALL_FD:
        call_text_put_fd(text, (int)result);
        break;
    case SYSTEM_CALL_FCNTL:
        put_fcntl(text, result);
        break;
    case SYSTEM_CALL_SCHEDULER:
        put_named(text, SYSTEM_CALL_SET_scheduler, result);
        break;
    case SYSTEM_CALL_TIMEX:
        put_named(text, SYSTEM_CALL_SET_timex_state, result);
        break;
    case SYSTEM_CALL_PERSONALITY:
        call_text_put_hex(text, result);
        text_put_string(text->out, " (");
        constant_set_put_flags(text->out, SYSTEM_CALL_SET_personality, result);
        text_put_char(text->out, ')');
        break;
    case SYSTEM_CALL_SIGNAL:
        text_format(text->out, "%lu (", (unsigned long)result);
        signal_text_put(text->out, (int64_t)result);
        text_put_char(text->out, ')');
        break;
    case SYSTEM_CALL_TIME:
        put_time(text, text->result);
        break;
    default:
        text_put_signed(text->out, text->result);
        break;
    }
}

void result_text_put(const struct call_text *text, const struct system_call *call, unsigned flags)
{
    unsigned kind = call == NULL ? SYSTEM_CALL_NUMBER : call->result;

    if ((flags & SYSTEM_CALL_NEVER_RETURNS) != 0)
        text_put_char(text->out, '?');
    else if (text->has_failed)
        put_error(text->out, (int)-text->result);
    else
        put_success(text, kind);
    if ((flags & SYSTEM_CALL_NEVER_RETURNS) == 0 && kind == SYSTEM_CALL_POLL)
        poll_text_put_poll_result(text, call->argument_count > 3);
    if ((flags & SYSTEM_CALL_NEVER_RETURNS) == 0 && kind == SYSTEM_CALL_SELECT)
        poll_text_put_select_result(text, call->argument_count > 5);
    if ((flags & SYSTEM_CALL_INJECTED) != 0)
        text_put_string(text->out, " (INJECTED)");
    if ((flags & SYSTEM_CALL_DELAYED) != 0)
        text_put_string(text->out, " (DELAYED)");
}

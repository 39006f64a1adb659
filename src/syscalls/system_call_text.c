/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/system_call_text.h"

#include "syscalls/constant_set.h"
#include "syscalls/errno_name.h"
#include "syscalls/subject_texts.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>

#define ERRORS        4095
#define FIRST_RESTART 512
#define LAST_RESTART  516

/* The options are those of this call. */
static struct call_text text_of(struct text_writer *out, const struct system_call_event *event,
                                const struct call_text_options *options)
{
    out->style = (uint8_t)options->constants;
    return (struct call_text){
        .out = out,
        .options = options,
        .memory = event->memory,
        .call = system_call_by_number(event->number),
        .arguments = event->arguments,
        .result = event->result,
        .pid = event->pid,
        .is_over = event->kind == SYSTEM_CALL_LEFT,
        .has_failed = event->kind == SYSTEM_CALL_LEFT && (((event->flags & SYSTEM_CALL_NEVER_RETURNS) != 0) ||
                                                          (event->result < 0 && event->result >= -ERRORS)),
        .sp = event->sp,
    };
}

void system_call_text_name(struct text_writer *out, uint64_t number)
{
    const struct system_call_signature *call = system_call_by_number(number);

    if (call != NULL)
        text_put_string(out, call->name);
    else
        text_format(out, "syscall_%#lx", (unsigned long)number);
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* Calls that answer into room whose size they are told by a pointer: what it said first. */
static uint32_t read_length(const struct call_text *text, const struct system_call_signature *call)
{
    uint32_t length = 0;

    for (unsigned i = 0; i < call->argument_count; i++) {
        const struct system_call_argument *argument = &call->arguments[i];
        uint64_t address = text->arguments[i];

        /* Of a message it is the length of its name, behind the pointer to that. */
        if (argument->kind == SYSTEM_CALL_STRUCT && argument->detail == SYSTEM_CALL_STRUCT_msghdr && address != 0)
            address += 8;
        else if (argument->kind != SYSTEM_CALL_SOCKLEN)
            continue;
        if (!call_text_read(text, address, &length, sizeof(length)))
            length = 0;
    }
    return length;
}

static void put_numbers(const struct call_text *text, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        text_put_string(text->out, i == 0 ? "" : ", ");
        call_text_put_hex(text, text->arguments[i]);
    }
}

/* All six, as nothing is known of them. */
static void put_unknown(const struct call_text *text)
{
    put_numbers(text, SYSTEM_CALL_ARGUMENTS_MAX);
}

/* Writes arguments from progress->next on, as far as they are known. */
static void put_arguments(const struct call_text *text, const struct system_call_signature *call,
                          struct system_call_progress *progress)
{
    while (progress->next < call->argument_count) {
        const struct system_call_argument *argument = &call->arguments[progress->next];

        if (dependent_text_is_absent(text, argument->kind, progress->next)) {
            progress->next = call->argument_count;
            return;
        }
        if (dependent_text_is_skipped(text, argument->kind)) {
            progress->next++;
            continue;
        }
        if (progress->next > 0)
            text_put_string(text->out, ", ");
        if (!text->is_over && argument_text_is_answer(text, argument))
            return;
        argument_text_put(text, argument, progress->next);
        progress->next++;
        if (!text->is_over && argument->kind == SYSTEM_CALL_STRUCT &&
            (argument->detail == SYSTEM_CALL_STRUCT_position || argument->detail == SYSTEM_CALL_STRUCT_clone_args))
            return;
    }
}

void system_call_text_enter(struct text_writer *out, const struct system_call_event *event,
                            const struct call_text_options *options, struct system_call_progress *progress)
{
    const struct system_call_signature *call = system_call_by_number(event->number);
    const struct call_text_options own = call_text_options_for(options, event->number);
    struct call_text text = text_of(out, event, &own);

    text.is_over = text.has_failed = false;
    progress->next = 0;
    progress->sp = event->sp;
    system_call_text_name(out, event->number);
    text_put_char(out, '(');
    if (call == NULL) {
        put_unknown(&text);
        return;
    }
    if (own.is_raw) {
        put_numbers(&text, call->argument_count);
        return;
    }
    if (strcmp(call->name, "restart_syscall") == 0) {
        text_put_string(out, "<... resuming interrupted ");
        system_call_text_name(out, progress->previous);
        text_put_string(out, " ...>");
        return;
    }
    progress->previous = event->number;
    progress->entered_length = read_length(&text, call);
    if (call->argument_count > 0 && call->arguments[0].kind == SYSTEM_CALL_CLONE_FLAGS)
        process_text_put_clone(&text);
    else
        put_arguments(&text, call, progress);
}

/* A comma was written before the argument that was waited for: it is not to be written again. */
static void put_rest(const struct call_text *text, const struct system_call_signature *call,
                     struct system_call_progress *progress)
{
    if (progress->next > 0)
        argument_text_put_change(text, &call->arguments[progress->next - 1], progress->next - 1);
    if (progress->next >= call->argument_count)
        return;
    if (argument_text_is_answer(text, &call->arguments[progress->next])) {
        if (dependent_text_is_absent(text, call->arguments[progress->next].kind, progress->next))
            return;
        argument_text_put(text, &call->arguments[progress->next], progress->next);
        progress->next++;
    }
    put_arguments(text, call, progress);
}

void system_call_text_leave(struct text_writer *out, const struct system_call_event *event,
                            const struct call_text_options *options, struct system_call_progress *progress)
{
    const struct system_call_signature *call = system_call_by_number(event->number);
    const struct call_text_options own = call_text_options_for(options, event->number);
    struct call_text text = text_of(out, event, &own);

    text.is_over = true;
    text.entered_length = progress->entered_length;
    if (own.is_raw) {
        text_put_char(text.out, ')');
        return;
    }
    if (call != NULL && call->argument_count > 0 && call->arguments[0].kind == SYSTEM_CALL_CLONE_FLAGS)
        process_text_put_clone_end(&text);
    else if (call != NULL)
        put_rest(&text, call, progress);
    text_put_char(out, ')');
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

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

/* Of input and output: a class, and a level in it. */
static void put_priorities(const struct call_text *text, uint64_t result)
{
    call_text_put_hex(text, result);
    text_put_string(text->out, " (IOPRIO_PRIO_VALUE(");
    constant_set_put_choice(text->out, SYSTEM_CALL_SET_io_class, result >> 13);
    text_format(text->out, ", %lu))", (unsigned long)(result & 0x1fff));
}

/* What there is, if that was asked for. */
static void put_membarrier(const struct call_text *text, uint64_t result)
{
    if (text->arguments[0] != 0 || result == 0) {
        text_put_unsigned(text->out, result);
        return;
    }
    call_text_put_hex(text, result);
    text_put_string(text->out, " (");
    constant_set_put_flags(text->out, SYSTEM_CALL_SET_membarrier, result);
    text_put_char(text->out, ')');
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
    case SYSTEM_CALL_PRCTL:
        if (!prctl_text_put_result(text))
            text_put_signed(text->out, text->result);
        break;
    case SYSTEM_CALL_PRIORITIES:
        put_priorities(text, result);
        break;
    case SYSTEM_CALL_MEMBARRIER:
        put_membarrier(text, result);
        break;
    case SYSTEM_CALL_TIME:
        put_time(text, text->result);
        break;
    default:
        text_put_signed(text->out, text->result);
        break;
    }
}

/* Which descriptors were waited for with success. */
static void put_ready(const struct call_text *text, const struct system_call_signature *call, unsigned kind)
{
    if (kind == SYSTEM_CALL_POLL)
        poll_text_put_poll_result(text, call->argument_count > 3);
    if (kind == SYSTEM_CALL_SELECT)
        poll_text_put_select_result(text, call->argument_count > 5);
}

static void put_result(const struct call_text *text, const struct system_call_signature *call, unsigned flags)
{
    unsigned kind = call == NULL ? SYSTEM_CALL_NUMBER : call->result;

    if ((flags & SYSTEM_CALL_NEVER_RETURNS) != 0)
        text_put_char(text->out, '?');
    else if (text->has_failed)
        put_error(text->out, (int)-text->result);
    else if (text->options->is_raw)
        call_text_put_hex(text, (uint64_t)text->result);
    else
        put_success(text, kind);
    if ((flags & SYSTEM_CALL_NEVER_RETURNS) == 0 && !text->options->is_raw)
        put_ready(text, call, kind);
    if ((flags & SYSTEM_CALL_POKED) != 0)
        text_put_string(text->out,
                        (flags & SYSTEM_CALL_INJECTED) != 0 ? " (INJECTED: args, retval)" : " (INJECTED: args)");
    else if ((flags & SYSTEM_CALL_INJECTED) != 0)
        text_put_string(text->out, " (INJECTED)");
    if ((flags & SYSTEM_CALL_DELAYED) != 0)
        text_put_string(text->out, " (DELAYED)");
}

void system_call_text_result(struct text_writer *out, const struct system_call_event *event,
                             const struct call_text_options *options)
{
    const struct call_text_options own = call_text_options_for(options, event->number);
    struct call_text text = text_of(out, event, &own);

    put_result(&text, system_call_by_number(event->number), event->flags);
}

void system_call_text_put(struct text_writer *out, const struct system_call_event *event,
                          const struct call_text_options *options)
{
    struct system_call_progress progress = {0};

    system_call_text_enter(out, event, options, &progress);
    system_call_text_leave(out, event, options, &progress);
    text_put_string(out, " = ");
    system_call_text_result(out, event, options);
}

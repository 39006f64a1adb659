/* SPDX-License-Identifier: MIT */
#include "syscalls/subject_texts.h"

#include "syscalls/names/constant_set.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGNALS        64
#define FIRST_REALTIME 32
#define NAMED_SIGNALS  31

static const char *const names[NAMED_SIGNALS + 1] = {
    NULL,   "HUP",  "INT",  "QUIT", "ILL",    "TRAP",   "ABRT",  "BUS",  "FPE",  "KILL", "USR1",
    "SEGV", "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "CHLD",  "CONT", "STOP", "TSTP", "TTIN",
    "TTOU", "URG",  "XCPU", "XFSZ", "VTALRM", "PROF",   "WINCH", "IO",   "PWR",  "SYS",
};

/* The name without SIG, or nothing. */
static bool put_name(struct text_writer *out, const char *prefix, int64_t signal)
{
    if (signal >= 1 && signal <= NAMED_SIGNALS)
        text_format(out, "%s%s", prefix, names[signal]);
    else if (signal == FIRST_REALTIME)
        text_format(out, "%sRTMIN", prefix);
    else if (signal > FIRST_REALTIME && signal <= SIGNALS)
        text_format(out, "%sRT_%d", prefix, (int)signal - FIRST_REALTIME);
    else
        return false;
    return true;
}

void signal_text_put(struct text_writer *out, int64_t signal)
{
    char number[32];

    if (signal < 1 || signal > SIGNALS) {
        text_put_signed(out, signal);
        return;
    }
    snprintf(number, sizeof(number), "%ld", (long)signal);
    if (!call_text_begin_name(out, number))
        return;
    (void)put_name(out, "SIG", signal);
    call_text_end_name(out);
}

int signal_by_name(const char *name)
{
    char *end;
    long number = strtol(name, &end, 10);

    if (end != name && *end == '\0')
        return number > 0 && number <= SIGNALS ? (int)number : 0;
    if (strncmp(name, "SIG", 3) == 0)
        name += 3;
    for (int i = 1; i <= SIGNALS; i++) {
        char text[16];
        struct text_writer out;

        text_init(&out, text, sizeof(text));
        (void)put_name(&out, "", i);
        if (strcmp(text, name) == 0)
            return i;
    }
    return 0;
}

void signal_text_put_set(struct text_writer *out, uint64_t set)
{
    bool is_first = true;

    if (__builtin_popcountll(set) > SIGNALS * 2 / 3) {
        set = ~set;
        text_put_char(out, '~');
    }
    text_put_char(out, '[');
    for (int i = 1; i <= SIGNALS; i++) {
        if ((set >> (i - 1) & 1) == 0)
            continue;
        if (!is_first)
            text_put_char(out, ' ');
        (void)put_name(out, "", i);
        is_first = false;
    }
    text_put_char(out, ']');
}

/* struct kernel_sigaction, where there is a restorer. */
struct kernel_action {
    uint64_t handler;
    uint64_t flags;
    uint64_t restorer;
    uint64_t mask;
};

static void put_handler(struct text_writer *out, uint64_t handler)
{
    if (!call_text_begin_name(out, handler == 0 ? "0" : handler == 1 ? "0x1" : "0xffffffffffffffff"))
        return;
    text_put_string(out, handler == 0 ? "SIG_DFL" : handler == 1 ? "SIG_IGN" : "SIG_ERR");
    call_text_end_name(out);
}

void signal_text_put_action(const struct call_text *text, const void *bytes)
{
    struct kernel_action action;

    memcpy(&action, bytes, sizeof(action));
    text_put_string(text->out, "{sa_handler=");
    if (action.handler == 0 || action.handler == 1 || action.handler == UINT64_MAX)
        put_handler(text->out, action.handler);
    else
        call_text_put_address(text, action.handler);
    text_put_string(text->out, ", sa_mask=");
    signal_text_put_set(text->out, action.mask);
    text_put_string(text->out, ", sa_flags=");
    constant_set_put_flags(text->out, SYSTEM_CALL_SET_sigaction, action.flags);
    if ((action.flags & 0x04000000) != 0) {
        text_put_string(text->out, ", sa_restorer=");
        call_text_put_address(text, action.restorer);
    }
    text_put_char(text->out, '}');
}

static void put_code(struct text_writer *out, int signal, int code)
{
    static const struct {
        int signal;
        enum system_call_constants set;
    } sets[] = {
        {SIGCHLD, SYSTEM_CALL_SET_sigcode_child}, {SIGSEGV, SYSTEM_CALL_SET_sigcode_fault},
        {SIGBUS, SYSTEM_CALL_SET_sigcode_bus},    {SIGILL, SYSTEM_CALL_SET_sigcode_ill},
        {SIGFPE, SYSTEM_CALL_SET_sigcode_fpe},    {SIGTRAP, SYSTEM_CALL_SET_sigcode_trap},
        {SIGIO, SYSTEM_CALL_SET_sigcode_poll},    {SIGSYS, SYSTEM_CALL_SET_sigcode_sys},
    };
    const char *name = constant_set_name(SYSTEM_CALL_SET_sigcode, (uint32_t)code);
    char number[16];

    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]) && name == NULL; i++)
        if (sets[i].signal == signal)
            name = constant_set_name(sets[i].set, (uint32_t)code);
    snprintf(number, sizeof(number), code == 0 ? "0" : "%#x", (unsigned)code);
    if (name == NULL) {
        text_put_string(out, number);
    } else if (call_text_begin_name(out, number)) {
        text_put_string(out, name);
        call_text_end_name(out);
    }
}

static void put_pointer(struct text_writer *out, const char *label, const void *pointer)
{
    if (pointer == NULL)
        text_format(out, "%sNULL", label);
    else
        text_format(out, "%s%#lx", label, (unsigned long)(uintptr_t)pointer);
}

static void put_child(struct text_writer *out, const siginfo_t *info)
{
    text_format(out, ", si_pid=%d, si_uid=%u, si_status=", info->si_pid, info->si_uid);
    if (info->si_code == CLD_EXITED)
        text_put_signed(out, info->si_status);
    else
        signal_text_put(out, info->si_status);
    text_format(out, ", si_utime=%ld, si_stime=%ld", (long)info->si_utime, (long)info->si_stime);
}

static void put_value(struct text_writer *out, const siginfo_t *info)
{
    text_format(out, ", si_int=%d", info->si_int);
    put_pointer(out, ", si_ptr=", info->si_ptr);
}

/* What comes with a signal that the kernel itself has made. */
static void put_kernel_part(struct text_writer *out, const siginfo_t *info)
{
    switch (info->si_signo) {
    case SIGCHLD:
        put_child(out, info);
        break;
    case SIGILL:
    case SIGFPE:
    case SIGSEGV:
    case SIGBUS:
        put_pointer(out, ", si_addr=", info->si_addr);
        break;
    case SIGIO:
        text_format(out, ", si_band=%ld, si_fd=%d", (long)info->si_band, info->si_fd);
        break;
    case SIGSYS:
        put_pointer(out, ", si_call_addr=", info->si_call_addr);
        break;
    default:
        if (info->si_pid != 0 || info->si_uid != 0)
            text_format(out, ", si_pid=%d, si_uid=%u", info->si_pid, info->si_uid);
        break;
    }
}

void signal_text_put_info(struct text_writer *out, const void *bytes)
{
    siginfo_t info;

    memcpy(&info, bytes, sizeof(info));
    if (info.si_signo == 0) {
        text_put_string(out, "{}");
        return;
    }
    text_put_string(out, "{si_signo=");
    signal_text_put(out, info.si_signo);
    text_put_string(out, ", si_code=");
    put_code(out, info.si_signo, info.si_code);
    if (info.si_errno != 0)
        text_format(out, ", si_errno=%d", info.si_errno);
    switch (info.si_code) {
    case SI_USER:
    case SI_TKILL:
        text_format(out, ", si_pid=%d, si_uid=%u", info.si_pid, info.si_uid);
        break;
    case SI_QUEUE:
        text_format(out, ", si_pid=%d, si_uid=%u", info.si_pid, info.si_uid);
        put_value(out, &info);
        break;
    case SI_TIMER:
        text_format(out, ", si_timerid=%#x, si_overrun=%d", (unsigned)info.si_timerid, info.si_overrun);
        put_value(out, &info);
        break;
    default:
        put_kernel_part(out, &info);
        break;
    }
    text_put_char(out, '}');
}

void signal_text_put_stack(const struct call_text *text, const void *bytes)
{
    stack_t stack;

    memcpy(&stack, bytes, sizeof(stack));
    text_put_string(text->out, "{ss_sp=");
    call_text_put_address(text, (uintptr_t)stack.ss_sp);
    text_put_string(text->out, ", ss_flags=");
    constant_set_put_flags(text->out, SYSTEM_CALL_SET_sigaltstack, (uint32_t)stack.ss_flags);
    text_format(text->out, ", ss_size=%lu}", (unsigned long)stack.ss_size);
}

void signal_text_put_event(const struct call_text *text, const void *bytes)
{
    struct sigevent event;

    memcpy(&event, bytes, sizeof(event));
    text_format(text->out, "{sigev_value={sival_int=%d, sival_ptr=", event.sigev_value.sival_int);
    call_text_put_address(text, (uintptr_t)event.sigev_value.sival_ptr);
    text_put_string(text->out, "}, sigev_signo=");
    signal_text_put(text->out, event.sigev_signo);
    text_put_string(text->out, ", sigev_notify=");
    constant_set_put_choice(text->out, SYSTEM_CALL_SET_sigev, (uint32_t)event.sigev_notify);
    if (event.sigev_notify == SIGEV_THREAD_ID)
        text_format(text->out, ", sigev_notify_thread_id=%d", *(const int *)((const char *)bytes + 16));
    text_put_char(text->out, '}');
}

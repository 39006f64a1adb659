/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/screens/report_sections.h"

#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "report/report_words.h"
#include "symbolize/function_names.h"
#include "view/trace_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define TEXT_BYTES        512
#define REGISTERS_IN_LINE 4

/* What is shown, and where names come from. */
struct crash_report {
    struct screen *screen;
    struct report_place place;
};

static const struct trace_crash *crash_of(const struct crash_report *report)
{
    return &report->place.report->processes[report->place.process].crash;
}

static void put_heading(struct screen *screen, const char *text)
{
    screen_print(screen, "\n");
    screen_put(screen, SCREEN_STRONG, 0, text);
    screen_print(screen, "\n");
}

static const char *name_signal(int signal, char *text, size_t text_bytes)
{
    const char *name = sigabbrev_np(signal);

    if (name == NULL)
        snprintf(text, text_bytes, "signal %d", signal);
    else
        snprintf(text, text_bytes, "SIG%s", name);
    return text;
}

/* "function+0x12 (file:line)", or the address if nobody knows. */
static const char *name_address(const struct crash_report *report, uint64_t address, uint64_t first, uint64_t last,
                                char *text, size_t text_bytes)
{
    const struct modules *modules = &report->place.report->trace->processes[report->place.process].modules;
    const struct recorded_module *module = modules_find(modules, address, first, last);
    char name[TEXT_BYTES];

    snprintf(name, sizeof(name), "0x%" PRIx64, address);
    if (module != NULL)
        (void)function_names_find_line(report->place.names, module, address, name, sizeof(name));
    return printable(text, text_bytes, name);
}

static void put_signal(const struct crash_report *report, const struct crash_signal *signal)
{
    uint32_t pc_at = signal->register_count < 2 ? 0 : signal->register_count - 2;
    char name[32], place[TEXT_BYTES];

    screen_print(report->screen, "%s in thread %" PRIu32, name_signal(signal->signal, name, sizeof(name)), signal->tid);
    if (signal->register_count >= 2 && signal->is_known)
        screen_print(report->screen, " at %s",
                     name_address(report, signal->registers[pc_at], signal->time, signal->time, place, sizeof(place)));
    if (!signal->is_known)
        screen_print(report->screen, ", in the agent's own code");
    /* The kernel's own numbers are for faults; others have no address. */
    if (signal->code > 0)
        screen_print(report->screen, ", address 0x%" PRIx64, signal->address);
    screen_print(report->screen, "\n");
}

static void put_registers(const struct crash_report *report, const struct crash_signal *signal)
{
    for (uint32_t i = 0; i < signal->register_count; i++)
        screen_print(report->screen, "%7s %016" PRIx64 "%s", report_register_name(signal, i), signal->registers[i],
                     i % REGISTERS_IN_LINE == REGISTERS_IN_LINE - 1 || i + 1 == signal->register_count ? "\n" : "");
}

static void put_other_threads(const struct crash_report *report)
{
    struct crash_thread thread;
    const uint8_t *stack;

    for (size_t place = 0; trace_crash_next_thread(crash_of(report), &place, &thread, &stack);) {
        if (thread.state != CRASH_THREAD_IN_CALL)
            screen_print(report->screen, "thread %" PRIu32 " was running\n", thread.tid);
        else if (thread.number < 0)
            screen_print(report->screen, "thread %" PRIu32 " was waiting\n", thread.tid);
        else
            screen_print(report->screen,
                         "thread %" PRIu32 " was in system call %" PRId64 "(0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64
                         ")\n",
                         thread.tid, thread.number, thread.arguments[0], thread.arguments[1], thread.arguments[2]);
    }
}

static const char *verb_of(uint32_t kind)
{
    switch (kind) {
    case GAIT_EVENT_CALL:
        return "call  ";
    case GAIT_EVENT_RET:
        return "return to";
    case GAIT_EVENT_ENTER:
        return "enter ";
    default:
        return "leave ";
    }
}

static void put_last_calls(const struct crash_report *report, uint32_t tid, const struct thread_tally *tally)
{
    uint64_t count = tally->last_count < LAST_CALLS_MAX ? tally->last_count : LAST_CALLS_MAX;
    char text[TEXT_BYTES];

    if (count == 0)
        return;
    snprintf(text, sizeof(text), "the last calls and returns of thread %" PRIu32, tid);
    put_heading(report->screen, text);
    for (uint64_t i = tally->last_count - count; i < tally->last_count; i++) {
        const struct last_call *call = &tally->last_calls[i % LAST_CALLS_MAX];
        bool is_hooked = call->event.kind & (GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE);

        name_address(report, is_hooked ? call->event.location : call->event.target, call->first_time, call->last_time,
                     text, sizeof(text));
        screen_print(report->screen, "%7" PRId32 "  %s %s\n", call->event.depth, verb_of(call->event.kind), text);
    }
}

static void put_process(const struct crash_report *report)
{
    const struct view_trace *trace = report->place.report->trace;
    const struct manifest_process *listed = report_listed_process(trace, &trace->processes[report->place.process]);
    struct crash_signal signal;
    const uint8_t *stack;
    char text[64], name[32];
    bool has_said = false;

    snprintf(text, sizeof(text), "how process %" PRIu32 " ended", trace->processes[report->place.process].pid);
    put_heading(report->screen, text);
    for (size_t place = 0; trace_crash_next_signal(crash_of(report), &place, &signal, &stack); has_said = true) {
        put_signal(report, &signal);
        put_registers(report, &signal);
    }
    if (!has_said && listed != NULL)
        screen_print(report->screen, "killed by %s; its registers and stacks were not recorded\n",
                     name_signal(WTERMSIG(listed->status), name, sizeof(name)));
    put_other_threads(report);
    for (size_t i = 0; i < trace->thread_count; i++)
        if (trace->threads[i].process == report->place.process)
            put_last_calls(report, trace->threads[i].tid, &report->place.report->threads[i]);
}

void report_crash(struct screen *screen, const struct trace_report *report, struct function_names *names)
{
    for (size_t i = 0; i < report->trace->process_count; i++)
        if (report_has_crash(report, i))
            put_process(&(struct crash_report){screen, {report, i, names}});
}

/* SPDX-License-Identifier: MIT */
#include "cli/report_details.h"

#include "cli/duration.h"
#include "cli/printable.h"
#include "cli/screen.h"
#include "symbolize/call_arguments.h"
#include "symbolize/function_names.h"
#include "trace/trace_summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEXT_BYTES      512
#define ARGUMENTS_SHOWN 3

static void put_time(struct screen *screen, const struct detail_count *count, double nanoseconds)
{
    char text[DURATION_BYTES];

    screen_print(screen, " %11s", count->returns == 0 ? "-" : duration_write(nanoseconds, text));
}

static void put_registers(struct screen *screen, const struct detail_count *count)
{
    for (unsigned i = 0; i < ARGUMENTS_SHOWN; i++)
        screen_print(screen, "%s0x%" PRIx64, i == 0 ? "" : ", ", count->last_arguments[i]);
    screen_print(screen, ", ...");
}

/* The last call, as far as it is kept. */
static void put_arguments(struct screen *screen, const struct module *module, const struct detail_count *count,
                          struct call_arguments *known)
{
    const struct detail_values values = {count->last_values.bytes, count->last_values.size_bytes};
    struct detail_enter enter = {.record = {.kind = DETAIL_ENTER, .function = count->address}};
    char bytes[DETAIL_TEXT_BYTES];
    struct detail_text text;

    memcpy(enter.arguments, count->last_arguments, sizeof(enter.arguments));
    detail_text_init(&text, bytes, sizeof(bytes));
    call_arguments_put(known, module, &enter, NULL, values, &text);
    screen_print(screen, "(");
    if (text.used == 0)
        put_registers(screen, count);
    screen_print(screen, "%s)", bytes);
}

static void put_result(struct screen *screen, const struct module *module, const struct detail_count *count,
                       struct call_arguments *known)
{
    const struct detail_values values = {count->last_result.bytes, count->last_result.size_bytes};
    const struct detail_leave leave = {
        .record = {.kind = DETAIL_LEAVE, .function = count->address},
        .value = count->last_value,
    };
    char bytes[DETAIL_TEXT_BYTES];
    struct detail_text text;

    if (count->returns > count->left) {
        detail_text_init(&text, bytes, sizeof(bytes));
        call_arguments_put_result(known, module, &leave, values, &text);
        if (text.used == 0)
            screen_print(screen, " = 0x%" PRIx64, count->last_value);
        else
            screen_print(screen, " = %s", bytes);
    }
    screen_print(screen, "\n");
}

/* What is known of functions. */
struct known {
    struct function_names *names;
    struct call_arguments arguments;
    double tick_ns; /* how long a tick of the counter is */
};

static void put_count(struct screen *screen, const struct process_summary *process, const struct detail_count *count,
                      struct known *known)
{
    const struct module *module = modules_find(&process->modules, count->address, count->last_time, count->last_time);
    char text[TEXT_BYTES], clean[TEXT_BYTES];
    double average = count->returns == 0 ? 0 : (double)count->total / (double)count->returns;

    snprintf(text, sizeof(text), "0x%" PRIx64, count->address);
    if (module != NULL)
        (void)function_names_find(known->names, module, count->address, text, sizeof(text));
    screen_print(screen, "%14" PRIu64, count->calls);
    put_time(screen, count, (double)count->shortest * known->tick_ns);
    put_time(screen, count, average * known->tick_ns);
    put_time(screen, count, (double)count->longest * known->tick_ns);
    screen_print(screen, "  %s", printable(clean, sizeof(clean), text));
    put_arguments(screen, module, count, &known->arguments);
    put_result(screen, module, count, &known->arguments);
}

static void put_process(struct screen *screen, const struct process_summary *process, struct known *known, int limit)
{
    char heading[TEXT_BYTES];
    size_t shown = process->details.count < (size_t)limit ? process->details.count : (size_t)limit;

    snprintf(heading, sizeof(heading), "%14s %11s %11s %11s  details of process %" PRIu32 "; with the last arguments",
             "calls", "shortest", "average", "longest", process->pid);
    screen_print(screen, "\n");
    screen_put(screen, SCREEN_STRONG, 0, heading);
    screen_print(screen, "\n");
    for (size_t i = 0; i < shown; i++)
        put_count(screen, process, &process->details.counts[i], known);
    if (shown < process->details.count)
        screen_print(screen, "and %zu more; --limit shows them\n", process->details.count - shown);
}

void report_details(struct screen *screen, const struct trace_summary *summary, struct function_names *names, int limit)
{
    struct known known = {.names = names, .tick_ns = duration_of_tick(&summary->manifest)};

    if (summary->manifest.clock_count == 0 || call_arguments_init(&known.arguments, names) != 0)
        return;
    for (size_t i = 0; i < summary->process_count; i++)
        if (summary->processes[i].details.count != 0)
            put_process(screen, &summary->processes[i], &known, limit);
    call_arguments_deinit(&known.arguments);
}

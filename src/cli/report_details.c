/* SPDX-License-Identifier: MIT */
#include "cli/report_details.h"

#include "cli/duration.h"
#include "cli/printable.h"
#include "cli/screen.h"
#include "symbolize/function_names.h"
#include "trace/trace_summary.h"

#include <inttypes.h>
#include <stdio.h>

#define TEXT_BYTES      512
#define ARGUMENTS_SHOWN 3

static void put_time(struct screen *screen, const struct detail_count *count, double nanoseconds)
{
    char text[DURATION_BYTES];

    screen_print(screen, " %11s", count->returns == 0 ? "-" : duration_write(nanoseconds, text));
}

static void put_arguments(struct screen *screen, const struct detail_count *count)
{
    for (unsigned i = 0; i < ARGUMENTS_SHOWN; i++)
        screen_print(screen, "%s0x%" PRIx64, i == 0 ? "(" : ", ", count->last_arguments[i]);
    screen_print(screen, ", ...)");
    if (count->returns > count->left)
        screen_print(screen, " = 0x%" PRIx64, count->last_value);
    screen_print(screen, "\n");
}

static void put_count(struct screen *screen, const struct process_summary *process, const struct detail_count *count,
                      struct function_names *names, double tick)
{
    const struct module *module = modules_find(&process->modules, count->address, count->last_time, count->last_time);
    char text[TEXT_BYTES], clean[TEXT_BYTES];
    double average = count->returns == 0 ? 0 : (double)count->total / (double)count->returns;

    snprintf(text, sizeof(text), "0x%" PRIx64, count->address);
    if (module != NULL)
        (void)function_names_find(names, module, count->address, text, sizeof(text));
    screen_print(screen, "%14" PRIu64, count->calls);
    put_time(screen, count, (double)count->shortest * tick);
    put_time(screen, count, average * tick);
    put_time(screen, count, (double)count->longest * tick);
    screen_print(screen, "  %s", printable(clean, sizeof(clean), text));
    put_arguments(screen, count);
}

static void put_process(struct screen *screen, const struct trace_summary *summary,
                        const struct process_summary *process, struct function_names *names, int limit)
{
    char heading[TEXT_BYTES];
    size_t shown = process->details.count < (size_t)limit ? process->details.count : (size_t)limit;

    snprintf(heading, sizeof(heading), "%14s %11s %11s %11s  details of process %" PRIu32 "; with the last arguments",
             "calls", "shortest", "average", "longest", process->pid);
    screen_print(screen, "\n");
    screen_put(screen, SCREEN_STRONG, 0, heading);
    screen_print(screen, "\n");
    for (size_t i = 0; i < shown; i++)
        put_count(screen, process, &process->details.counts[i], names, duration_of_tick(&summary->manifest));
    if (shown < process->details.count)
        screen_print(screen, "and %zu more; --limit shows them\n", process->details.count - shown);
}

void report_details(struct screen *screen, const struct trace_summary *summary, struct function_names *names, int limit)
{
    if (summary->manifest.clock_count == 0)
        return;
    for (size_t i = 0; i < summary->process_count; i++)
        if (summary->processes[i].details.count != 0)
            put_process(screen, summary, &summary->processes[i], names, limit);
}

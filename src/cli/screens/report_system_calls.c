/* SPDX-License-Identifier: MIT */
#include "cli/screens/report_sections.h"

#include "cli/screens/screen.h"
#include "hosted/figures.h"
#include "view/record_words.h"
#include "view/trace_report.h"

#include <inttypes.h>
#include <stdio.h>

static void put_time(struct screen *screen, const struct system_call_sum *count, double nanoseconds)
{
    char text[FIGURE_BYTES];

    screen_print(screen, " %11s", count->returned == 0 ? "-" : duration_write(nanoseconds, text));
}

static void put_count(struct screen *screen, const struct system_call_sum *count, double tick_ns, uint64_t all)
{
    double average = count->returned == 0 ? 0 : (double)count->total / (double)count->returned;
    char name[SYSTEM_CALL_NAME_BYTES], errors[24] = "", share[FIGURE_BYTES];

    if (count->errors != 0)
        snprintf(errors, sizeof(errors), "%" PRIu64, count->errors);
    screen_print(screen, "%14s", share_write((double)count->total, (double)all, share));
    put_time(screen, count, (double)count->total * tick_ns);
    put_time(screen, count, average * tick_ns);
    put_time(screen, count, (double)count->longest * tick_ns);
    screen_print(screen, " %10" PRIu64 " %8s  %s\n", count->calls, errors, system_call_name(count->number, name));
}

void report_system_calls_show(struct screen *screen, const struct trace_report *report, size_t limit)
{
    const struct system_call_sums *counts = &report->system_calls;
    size_t shown = counts->count < limit ? counts->count : limit;
    double tick_ns = view_clock_tick_ns(&report->trace->clock);
    char heading[128];
    uint64_t all = 0;

    if (counts->count == 0)
        return;
    for (size_t i = 0; i < counts->count; i++)
        all += counts->counts[i].total;
    snprintf(heading, sizeof(heading), "%14s %11s %11s %11s %10s %8s  %s", "of their time", "total", "average",
             "longest", "calls", "errors", "system call");
    screen_print(screen, "\n");
    screen_put(screen, SCREEN_STRONG, 0, heading);
    screen_print(screen, "\n");
    for (size_t i = 0; i < shown; i++)
        put_count(screen, &counts->counts[i], tick_ns, all);
    if (shown < counts->count)
        screen_print(screen, "and %zu more; --limit shows them\n", counts->count - shown);
}

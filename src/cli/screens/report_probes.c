/* SPDX-License-Identifier: MIT */
/* Names are those of the program's notes: they are shown through printable(). */
#include "cli/screens/report_sections.h"

#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "report/report_words.h"
#include "view/record_words.h"
#include "view/trace_report.h"

#include <inttypes.h>
#include <stdio.h>

#define NAME_BYTES 600

static void put_count(const struct trace_report *report, struct screen *screen, size_t process,
                      const struct probe_count *count)
{
    char name[NAME_BYTES], clean[NAME_BYTES], arguments[DETAIL_TEXT_BYTES];

    probe_names_put(report->trace, process, count->probe, name, sizeof(name));
    report_probe_write_arguments(count, arguments);
    screen_print(screen, "%14" PRIu64 "  %s(%s)\n", count->times, printable(clean, sizeof(clean), name), arguments);
}

static void put_process(const struct trace_report *report, struct screen *screen, size_t process, size_t limit)
{
    const struct probe_counts *counts = &report->processes[process].probes;
    size_t shown = counts->count < limit ? counts->count : limit;
    char heading[NAME_BYTES];

    snprintf(heading, sizeof(heading), "%14s  probes of process %" PRIu32 "; with the last arguments", "times",
             report->trace->processes[process].pid);
    screen_print(screen, "\n");
    screen_put(screen, SCREEN_STRONG, 0, heading);
    screen_print(screen, "\n");
    for (size_t i = 0; i < shown; i++)
        put_count(report, screen, process, &counts->counts[i]);
    if (shown < counts->count)
        screen_print(screen, "and %zu more; --limit shows them\n", counts->count - shown);
}

void report_probes_show(const struct trace_report *report, struct screen *screen, size_t limit)
{
    for (size_t i = 0; i < report->trace->process_count; i++)
        if (report->processes[i].probes.count != 0)
            put_process(report, screen, i, limit);
}

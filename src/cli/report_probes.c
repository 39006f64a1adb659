/* SPDX-License-Identifier: MIT */
/* Names are those of the program's notes: they are shown through printable(). */
#include "cli/report_probes.h"

#include "cli/json_page.h"
#include "cli/printable.h"
#include "cli/screen.h"
#include "trace/probe_text.h"
#include "view/probe_names.h"
#include "view/trace_report.h"

#include <inttypes.h>
#include <stdio.h>

#define NAME_BYTES 600

static void write_arguments(const struct probe_count *count, char bytes[DETAIL_TEXT_BYTES])
{
    struct detail_text text;

    detail_text_init(&text, bytes, DETAIL_TEXT_BYTES);
    probe_text_put_arguments(&text, (struct detail_values){count->last_values, count->last_bytes});
}

static void put_count(const struct trace_report *report, struct screen *screen, size_t process,
                      const struct probe_count *count)
{
    char name[NAME_BYTES], clean[NAME_BYTES], arguments[DETAIL_TEXT_BYTES];

    probe_names_put(report->trace, process, count->probe, name, sizeof(name));
    write_arguments(count, arguments);
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

static void put_object(const struct trace_report *report, struct json_page *page, size_t process,
                       const struct probe_count *count)
{
    const struct manifest_probe *probe = probe_names_find(report->trace, process, count->probe);
    char arguments[DETAIL_TEXT_BYTES];

    write_arguments(count, arguments);
    json_page_open(page, NULL, '{');
    json_page_count(page, "pid", report->trace->processes[process].pid);
    json_page_text(page, "provider", probe == NULL ? "" : probe->provider);
    json_page_text(page, "name", probe == NULL ? "" : probe->name);
    json_page_count(page, "times", count->times);
    json_page_count(page, "first_ns", view_trace_ns(report->trace, count->first_time));
    json_page_count(page, "last_ns", view_trace_ns(report->trace, count->last_time));
    json_page_text(page, "last_arguments", arguments);
    json_page_close(page, '}');
}

void report_probes_put(const struct trace_report *report, struct json_page *page)
{
    json_page_open(page, "probes", '[');
    for (size_t i = 0; i < report->trace->process_count; i++)
        for (size_t j = 0; j < report->processes[i].probes.count; j++)
            put_object(report, page, i, &report->processes[i].probes.counts[j]);
    json_page_close(page, ']');
}

/* SPDX-License-Identifier: MIT */
#include "cli/screens/report_sections.h"

#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/figures.h"
#include "report/report_words.h"
#include "view/trace_report.h"

#include <inttypes.h>
#include <stdio.h>

#define TEXT_BYTES 512

static void put_time(struct screen *screen, const struct detail_count *count, double nanoseconds)
{
    char text[FIGURE_BYTES];

    screen_print(screen, " %11s", count->returns == 0 ? "-" : duration_write(nanoseconds, text));
}

static void put_count(struct report_details *details, struct screen *screen, size_t process,
                      const struct detail_count *count)
{
    double average = count->returns == 0 ? 0 : (double)count->total / (double)count->returns;
    struct report_detail detail;
    char clean[sizeof(detail.name)];

    report_detail_write(details, process, count, &detail);
    screen_print(screen, "%14" PRIu64, count->calls);
    put_time(screen, count, (double)count->shortest * details->tick_ns);
    put_time(screen, count, average * details->tick_ns);
    put_time(screen, count, (double)count->longest * details->tick_ns);
    screen_print(screen, "  %s(%s)", printable(clean, sizeof(clean), detail.name), detail.arguments);
    screen_print(screen, "%s%s\n", detail.result[0] == '\0' ? "" : " = ", detail.result);
}

static void put_process(struct report_details *details, struct screen *screen, size_t process, size_t limit)
{
    const struct detail_counts *counts = &details->report->processes[process].details;
    size_t shown = counts->count < limit ? counts->count : limit;
    char heading[TEXT_BYTES];

    snprintf(heading, sizeof(heading), "%14s %11s %11s %11s  details of process %" PRIu32 "; with the last arguments",
             "calls", "shortest", "average", "longest", details->report->trace->processes[process].pid);
    screen_print(screen, "\n");
    screen_put(screen, SCREEN_STRONG, 0, heading);
    screen_print(screen, "\n");
    for (size_t i = 0; i < shown; i++)
        put_count(details, screen, process, &counts->counts[i]);
    if (shown < counts->count)
        screen_print(screen, "and %zu more; --limit shows them\n", counts->count - shown);
}

void report_details_show(struct report_details *details, struct screen *screen, size_t limit)
{
    for (size_t i = 0; i < details->report->trace->process_count; i++)
        if (details->report->processes[i].details.count != 0)
            put_process(details, screen, i, limit);
}

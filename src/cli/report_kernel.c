/* SPDX-License-Identifier: MIT */
/*
 * A recording that ended says in its definitions how many there are; of one that was killed they are counted. Texts
 * come from the file: they are shown through printable().
 */
#include "cli/report_kernel.h"

#include "cli/json_page.h"
#include "cli/printable.h"
#include "cli/screen.h"
#include "trace/kernel_events.h"
#include "view/view_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define TEXT_BYTES 512

struct totals {
    struct kernel_sources sources;
    uint64_t *counts;
    uint64_t lost_count; /* where it is not known of what */
    bool is_cut;         /* the recording did not end properly */
    uint64_t first_time;
    uint64_t last_time;
    struct gait_error problem;
};

static void count(struct totals *totals, const struct view_trace *trace)
{
    struct kernel_events events;
    struct kernel_event event;

    if (kernel_events_open(&events, &trace->files, &totals->problem) != 0)
        return;
    while (kernel_events_next(&events, &event)) {
        if (totals->first_time == 0)
            totals->first_time = event.time;
        totals->last_time = event.time;
        if (kernel_sources_find(&totals->sources, event.source) != NULL)
            totals->counts[event.source]++;
    }
    totals->lost_count = events.lost_count;
    totals->problem = events.problem;
    kernel_events_close(&events);
}

/* False: there is nothing to tell. */
static bool read_totals(struct totals *totals, const struct view_trace *trace)
{
    *totals = (struct totals){.counts = NULL};
    if (kernel_events_sources(&trace->files, &totals->sources, &totals->problem) != 0)
        return false;
    totals->counts = calloc(totals->sources.source_count, sizeof(*totals->counts));
    totals->problem.code = 0;
    if (totals->counts == NULL) {
        kernel_sources_deinit(&totals->sources);
        totals->problem = (struct gait_error){.code = ENOMEM, .text = "cannot count the kernel's events: no memory"};
        return false;
    }
    totals->is_cut = totals->sources.end.state != STREAM_COMPLETE;
    count(totals, trace);
    return true;
}

static void free_totals(struct totals *totals)
{
    kernel_sources_deinit(&totals->sources);
    free(totals->counts);
}

static double seconds_of(const struct totals *totals, const struct view_trace *trace)
{
    return (double)(view_trace_ns(trace, totals->last_time) - view_trace_ns(trace, totals->first_time)) / 1e9;
}

void report_kernel_show(const struct view_trace *trace, struct screen *screen)
{
    struct totals totals;
    char clean[TEXT_BYTES];
    double seconds;

    if (!read_totals(&totals, trace)) {
        if (totals.problem.code != 0 && totals.problem.code != ENOENT)
            screen_print(screen, "\n%s\n", printable(clean, sizeof(clean), totals.problem.text));
        return;
    }
    seconds = seconds_of(&totals, trace);
    screen_print(screen, "\n");
    screen_put(screen, SCREEN_STRONG, 0, "kernel events    per second        lost  source");
    screen_print(screen, "\n");
    for (uint32_t i = 1; i < totals.sources.source_count; i++) {
        const struct kernel_source *source = &totals.sources.sources[i];

        screen_print(screen, "%13" PRIu64 "  %13.1f  %10" PRIu64 "  %s\n", totals.counts[i],
                     seconds > 0 ? (double)totals.counts[i] / seconds : 0.0, source->lost_count,
                     printable(clean, sizeof(clean), source->spec));
    }
    if (totals.is_cut)
        screen_print(screen, "What is known of the kernel's events is cut off or damaged; gait verify shows where.\n");
    if (totals.is_cut && totals.lost_count != 0)
        screen_print(screen, "%" PRIu64 " events were lost; of which source is not known\n", totals.lost_count);
    if (totals.problem.code != 0)
        screen_print(screen, "%s\n", printable(clean, sizeof(clean), totals.problem.text));
    free_totals(&totals);
}

void report_kernel_put(const struct view_trace *trace, struct json_page *page)
{
    struct totals totals;
    double seconds;

    if (!read_totals(&totals, trace))
        return;
    seconds = seconds_of(&totals, trace);
    json_page_open(page, "kernel_sources", '[');
    for (uint32_t i = 1; i < totals.sources.source_count; i++) {
        const struct kernel_source *source = &totals.sources.sources[i];

        json_page_open(page, NULL, '{');
        json_page_text(page, "spec", source->spec);
        json_page_text(page, "name", source->name);
        json_page_count(page, "events", totals.counts[i]);
        json_page_number(page, "per_second", seconds > 0 ? (double)totals.counts[i] / seconds : 0.0);
        json_page_count(page, "lost", source->lost_count);
        json_page_close(page, '}');
    }
    json_page_close(page, ']');
    free_totals(&totals);
}

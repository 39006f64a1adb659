/* SPDX-License-Identifier: MIT */
#include "report/kernel_totals.h"

#include "view/view_trace.h"

#include <errno.h>
#include <stdlib.h>

static void count(struct kernel_totals *totals, const struct view_trace *trace)
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

bool kernel_totals_read(struct kernel_totals *totals, const struct view_trace *trace)
{
    *totals = (struct kernel_totals){.counts = NULL};
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

void kernel_totals_free(struct kernel_totals *totals)
{
    kernel_sources_deinit(&totals->sources);
    free(totals->counts);
}

double kernel_totals_seconds(const struct kernel_totals *totals, const struct view_trace *trace)
{
    return (double)(view_trace_ns(trace, totals->last_time) - view_trace_ns(trace, totals->first_time)) / 1e9;
}

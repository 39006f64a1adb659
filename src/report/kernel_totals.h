/* SPDX-License-Identifier: MIT */
/*
 * How many events of each of the kernel's sources a trace has. A recording that ended says in its definitions how many
 * there are; of one that was killed they are counted. One thread at a time.
 */
#ifndef GAIT_REPORT_KERNEL_TOTALS_H
#define GAIT_REPORT_KERNEL_TOTALS_H

#include "trace/kernel_events.h"

struct view_trace;

struct kernel_totals {
    struct kernel_sources sources;
    uint64_t *counts;
    uint64_t lost_count; /* where it is not known of what */
    bool is_cut;         /* the recording did not end properly */
    uint64_t first_time;
    uint64_t last_time;
    struct gait_error problem;
};

/* False: there is none, or problem says why not, and nothing is to be freed. */
bool kernel_totals_read(struct kernel_totals *totals, const struct view_trace *trace);
void kernel_totals_free(struct kernel_totals *totals);

/* From the first to the last event. */
double kernel_totals_seconds(const struct kernel_totals *totals, const struct view_trace *trace);

#endif

/* SPDX-License-Identifier: MIT */
/* The part of a report with calls and their times, by group. */
#ifndef GAIT_CLI_REPORT_TABLE_H
#define GAIT_CLI_REPORT_TABLE_H

#include "cli/report_rows.h"

struct screen;

struct report_table {
    struct screen *screen;
    struct trace_report *report;
    enum report_order order;
    bool has_order; /* somebody asked for that one */
    size_t limit;   /* of rows */
};

/*
 * Shows the rows in their order; where nobody asked for one, those with the most time, with what they called and
 * without. Nothing if there are no calls. -ENOMEM.
 */
MUST_USE int report_table_show(const struct report_table *table);

/* "12ns", "1.500us", "46.11us", "149.7ms", "12.35s": at most seven columns. Returns the text. */
#define REPORT_TIME_BYTES 32
const char *report_time_write(double nanoseconds, char text[REPORT_TIME_BYTES]);

#endif

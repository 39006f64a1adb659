/* SPDX-License-Identifier: MIT */
/* The part of a report with calls and their times, by group. */
#ifndef GAIT_CLI_SCREENS_REPORT_TABLE_H
#define GAIT_CLI_SCREENS_REPORT_TABLE_H

#include "report/report_rows.h"

struct screen;

struct report_table {
    struct screen *screen;
    struct trace_report *report;
    enum report_order order;
    bool has_order; /* the user asked for that one */
    size_t limit;   /* of rows */
};

/*
 * Shows the rows in their order; by default, those with the most time, with what they called and
 * without. Nothing if there are no calls. -ENOMEM.
 */
MUST_USE int report_table_show(const struct report_table *table);

#endif

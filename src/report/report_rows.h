/* SPDX-License-Identifier: MIT */
/* The rows of a report: groups of calls in an order, with their names. One thread at a time. */
#ifndef GAIT_REPORT_REPORT_ROWS_H
#define GAIT_REPORT_REPORT_ROWS_H

#include "view/trace_report.h"

/* As --by names enum call_group_kind, and --sort the next ones, in their order. */
#define REPORT_KIND_NAMES  "function|module|thread|file|line"
#define REPORT_ORDER_NAMES "total|self|calls|avg|p99|max|name"

enum report_order {
    REPORT_BY_TOTAL,
    REPORT_BY_SELF,
    REPORT_BY_CALLS,
    REPORT_BY_AVERAGE,
    REPORT_BY_P99,
    REPORT_BY_LONGEST,
    REPORT_BY_NAME,
};

#define REPORT_NAME_BYTES 1024

struct report_row {
    uint32_t group;
    const struct call_statistics *statistics;
    double value; /* what it is sorted by */
    char *name;   /* if sorted by name */
};

struct report_rows {
    struct report_row *rows;
    size_t count;
};

/* Groups with calls, the largest first; those that are alike, always in the same order. -ENOMEM. */
MUST_USE int report_rows_rank(struct report_rows *rows, struct trace_report *report, enum report_order order);
void report_rows_free(struct report_rows *rows);

/* What a group is called, as in its file. Returns the text. */
const char *report_row_name(struct trace_report *report, uint32_t group, char text[REPORT_NAME_BYTES]);

/* The value that an order sorts by; 0 of names. Times in ticks. */
double report_row_value(const struct call_statistics *statistics, enum report_order order);

/* "function", "total": the word for a kind or an order. */
const char *report_kind_name(enum call_group_kind kind);
const char *report_order_name(enum report_order order);

#endif

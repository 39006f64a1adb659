/* SPDX-License-Identifier: MIT */
/* Two traces side by side: what was called more or less often, and took more or less time. One thread at a time. */
#ifndef GAIT_REPORT_REPORT_DIFF_H
#define GAIT_REPORT_REPORT_DIFF_H

#include "report/report_rows.h"

/*
 * Groups of both traces that have the same name, of functions also the same file but for its folder, and of threads but
 * for their numbers. Without calls before it is new, without calls after it is gone.
 */
struct report_change {
    char *name;   /* as in files */
    char *module; /* of functions: the file's name; else empty */
    struct call_statistics before;
    struct call_statistics after;
    double difference; /* of what they are sorted by: nanoseconds, or calls */
};

struct report_diff {
    struct trace_report *before;
    struct trace_report *after;
    enum report_order order;
    struct text_numbers names; /* of changes */
    struct report_change *changes;
    size_t count;
    size_t capacity;
};

/* The largest difference first, whether more or less; by name, if that is the order. -ENOMEM. */
MUST_USE int report_diff_init(struct report_diff *diff, struct trace_report *before, struct trace_report *after,
                              enum report_order order);
void report_diff_deinit(struct report_diff *diff);

/* What an order sorts by, of calls of one of the traces: nanoseconds, or calls. */
double report_diff_value(const struct trace_report *report, const struct call_statistics *statistics,
                         enum report_order order);

#endif

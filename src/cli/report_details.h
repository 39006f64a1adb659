/* SPDX-License-Identifier: MIT */
/*
 * The part of a report that shows functions whose calls were looked at closely: how often, how long, with what. One
 * thread at a time.
 */
#ifndef GAIT_CLI_REPORT_DETAILS_H
#define GAIT_CLI_REPORT_DETAILS_H

#include "symbolize/call_arguments.h"

struct detail_count;
struct screen;
struct trace_report;

struct report_details {
    const struct trace_report *report;
    struct function_names *names;
    struct call_arguments arguments; /* what is known of them */
    double tick_ns;                  /* how long a tick of the counter is */
};

/* One function's, in words. What is in them is printable but for the name. */
struct report_detail {
    char name[512];
    char arguments[DETAIL_TEXT_BYTES]; /* of the last call */
    char result[DETAIL_TEXT_BYTES];    /* of the last one that returned; empty: none did */
};

/* Both must outlive it. -ENOMEM. */
MUST_USE int report_details_init(struct report_details *details, const struct trace_report *report,
                                 struct function_names *names);
void report_details_deinit(struct report_details *details);

/* Shows at most `limit` functions of each process; nothing if there are none. */
void report_details_show(struct report_details *details, struct screen *screen, size_t limit);

/* Puts what is known of a function of that process into words. */
void report_detail_write(struct report_details *details, size_t process, const struct detail_count *count,
                         struct report_detail *detail_out);

#endif

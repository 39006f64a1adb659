/* SPDX-License-Identifier: MIT */
/* Functions whose calls were looked at closely, and probes, in words. One thread at a time. */
#ifndef GAIT_REPORT_DETAIL_WORDS_H
#define GAIT_REPORT_DETAIL_WORDS_H

#include "symbolize/call_arguments.h"

struct detail_count;
struct probe_count;
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

/* Puts what is known of a function of that process into words. */
void report_detail_write(struct report_details *details, size_t process, const struct detail_count *count,
                         struct report_detail *detail_out);

/* What a probe was given when it was passed the last time. */
void report_probe_write_arguments(const struct probe_count *count, char bytes[DETAIL_TEXT_BYTES]);

#endif

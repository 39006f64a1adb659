/* SPDX-License-Identifier: MIT */
/* A report as JSON, for programs: docs/report_json.md says what is in it. */
#ifndef GAIT_REPORT_REPORT_JSON_H
#define GAIT_REPORT_REPORT_JSON_H

#include "report/report_rows.h"

#include <stdio.h>

struct report_diff;

/* What is to be written, and how. */
struct report_json {
    FILE *stream;
    const char *path;        /* of the trace */
    const char *other_path;  /* of the one that it is compared with */
    enum report_order order; /* of rows */
    size_t limit;            /* of rows; SIZE_MAX: all */
};

/* -ENOMEM: something is missing. */
MUST_USE int report_json_write(const struct report_json *json, struct trace_report *report,
                               struct function_names *names);

/* Two traces side by side. */
void report_json_write_diff(const struct report_json *json, const struct report_diff *diff);

#endif

/* SPDX-License-Identifier: MIT */
/* Which functions of a coverage are shown. */
#ifndef GAIT_REPORT_COVERAGE_CHOICE_H
#define GAIT_REPORT_COVERAGE_CHOICE_H

#include "view/coverage.h"

#include <stdbool.h>

struct coverage_choice {
    const char *filter; /* "function" or "module!function", both globs; NULL: everything */
    bool functions;     /* those that ran are listed */
    bool missed;        /* those that did not */
};

/* Whether the filter wants that function; the module goes by its file's name without folders. */
bool coverage_choice_wants(const struct coverage_choice *choice, const char *module, const char *function);

/* The same, for coverage_count and others. The choice must outlive its use. */
struct coverage_filter coverage_choice_filter(const struct coverage_choice *choice);

#endif

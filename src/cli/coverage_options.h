/* SPDX-License-Identifier: MIT */
/* The options of `gait coverage`. */
#ifndef GAIT_CLI_COVERAGE_OPTIONS_H
#define GAIT_CLI_COVERAGE_OPTIONS_H

#include "cli/command.h"
#include "view/coverage.h"

#include <stdbool.h>

struct coverage_options {
    const char *trace;
    const char *filter; /* NULL: everything */
    bool functions;     /* those that ran are listed */
    bool missed;        /* those that did not */
    bool lines;         /* and sources */
    bool json;
};

/* Texts point into the arguments. COMMAND_DONE, or what to return, with the error filled in. */
enum command_status coverage_options_read(const struct command_call *call, struct coverage_options *options_out);

/* Whether the filter, "function" or "module!function", both globs, wants that function; the module by its file's name
 * without folders. */
bool coverage_options_want(const struct coverage_options *options, const char *module, const char *function);

/* The same, for coverage_count and others. The options must outlive its use. */
struct coverage_filter coverage_options_filter(const struct coverage_options *options);

#endif

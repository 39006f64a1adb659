/* SPDX-License-Identifier: MIT */
/* The options of `gait coverage`. */
#ifndef GAIT_CLI_OPTIONS_COVERAGE_OPTIONS_H
#define GAIT_CLI_OPTIONS_COVERAGE_OPTIONS_H

#include "cli/command.h"
#include "report/coverage_choice.h"

#include <stdbool.h>

struct coverage_options {
    const char *trace;
    struct coverage_choice choice;
    bool lines; /* of sources are listed, too */
    bool json;
};

/* Texts point into the arguments. COMMAND_DONE, or what to return, with the error filled in. */
enum command_status coverage_options_read(const struct command_call *call, struct coverage_options *options_out);

#endif

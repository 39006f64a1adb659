/* SPDX-License-Identifier: MIT */
/* The options of `gait export`. */
#ifndef GAIT_CLI_OPTIONS_EXPORT_OPTIONS_H
#define GAIT_CLI_OPTIONS_EXPORT_OPTIONS_H

#include "cli/command.h"
#include "export/export_format.h"

struct export_options {
    const struct export_format *format;
    const char *trace;
    const char *output;   /* NULL: standard output */
    const char **threads; /* as they were given; all of them, if there are none */
    size_t thread_count;
    bool has_events; /* they are wanted one by one */
    uint64_t from_ns;
    uint64_t to_ns;
};

/* Texts point into the arguments. COMMAND_DONE, or what to return, with the error filled in. */
enum command_status export_options_read(const struct command_call *call, struct export_options *options_out);
void export_options_deinit(struct export_options *options);

#endif

/* SPDX-License-Identifier: MIT */
/* Whether there are probes as --probe means them, before anything is recorded: else what was perhaps meant. Stateless.
 */
#ifndef GAIT_CLI_PROBE_LOOKUP_H
#define GAIT_CLI_PROBE_LOOKUP_H

#include "base/attributes.h"
#include "cli/options/record_options.h"
#include "gait/error.h"

#include <sys/types.h>

struct program_files;

/*
 * Looks into the files of the program or process, and those that options name. Files that come later can have probes,
 * too: so it is wrong only if a file that is meant is there and has no such probe, or one is called nearly so. -ENOENT.
 */
MUST_USE int probe_lookup_check(const struct option_list *probes, const struct program_files *files,
                                struct gait_error *err);

/* The same for a program that is to run, or, if that is NULL, for a process. COMMAND_MISUSED: as above. */
enum command_status probe_lookup(const struct command_call *call, const struct option_list *probes, const char *program,
                                 pid_t pid);

#endif

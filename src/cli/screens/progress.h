/* SPDX-License-Identifier: MIT */
/* What --verbose says while something is recorded: each step, on standard error. */
#ifndef GAIT_CLI_SCREENS_PROGRESS_H
#define GAIT_CLI_SCREENS_PROGRESS_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct recording;

struct progress {
    FILE *stream;         /* NULL: nothing is said */
    size_t process_count; /* reported so far */
    bool *has_ended;      /* of these, what was reported */
};

/* Says nothing unless is_verbose. Given back with progress_end. */
void progress_begin(struct progress *progress, FILE *stream, bool is_verbose);
void progress_end(struct progress *progress);

/* One step, in a line. */
void progress_say(const struct progress *progress, const char *format, ...) PRINTF_LIKE(2, 3);

/* Says which processes have come to the recording, and which have ended, since the last time. */
void progress_look(struct progress *progress, const struct recording *recording);

#endif

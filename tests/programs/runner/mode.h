/* SPDX-License-Identifier: MIT */
/*
 * How a program is to be followed: a line of tests/programs/MODES, that is a name and settings, taken apart.
 */
#ifndef TESTS_PROGRAMS_RUNNER_MODE_H
#define TESTS_PROGRAMS_RUNNER_MODE_H

#include "gait/stalker.h"

/* Something that goes on in a thread beside the program while it is followed. */
struct mode;
typedef void (*mode_disturbance)(struct gait_stalker *stalker, const struct mode *mode, int tid);

struct mode {
    struct gait_stalker_options stalker;
    struct gait_follow_options follow;
    mode_disturbance disturbance; /* one round of it, or NULL */
    const char *exclude;          /* objects whose code is excluded, or NULL */
};

/* Reads a line, or says on standard error what is wrong with it and exits. The name is not looked at. */
void mode_read(const char *line, struct mode *mode_out);

#endif

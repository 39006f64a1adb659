/* SPDX-License-Identifier: MIT */
#ifndef TESTS_PROGRAMS_RUNNER_DISTURBANCES_H
#define TESTS_PROGRAMS_RUNNER_DISTURBANCES_H

#include "programs/runner/mode.h"

/* What is done to the engine, from beside, while it works; NULL: there is none of that name. */
mode_disturbance disturbance_find(const char *name);

/* Begins a thread that disturbs the engine for a few seconds, or until it is told to stop, if the mode says so. */
void disturbance_start(struct gait_stalker *stalker, const struct mode *mode);
void disturbance_stop(void);

#endif

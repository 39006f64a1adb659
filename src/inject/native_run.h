/* SPDX-License-Identifier: MIT */
/* A program that runs by itself, since nothing can be done in it. */
#ifndef GAIT_INJECT_NATIVE_RUN_H
#define GAIT_INJECT_NATIVE_RUN_H

#include "gait/error.h"

/*
 * Starts a program as a shell would, and waits until it has ended; signals that end a watch are for the program alone
 * meanwhile. status_out is that of waitpid. The arguments end with NULL. Errors: as spawn_stopped.
 */
int native_run(char *const arguments[], int *status_out, struct gait_error *err) __attribute__((warn_unused_result));

/* Waits for a child that runs already. -ECHILD: it is none. */
int native_run_wait(int pid, int *status_out) __attribute__((warn_unused_result));

#endif

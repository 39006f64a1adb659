/* SPDX-License-Identifier: MIT */
/* Starting a program that stops before its first instruction, in the middle of nothing, for us to do what we want. */
#ifndef GAIT_INJECT_SPAWN_H
#define GAIT_INJECT_SPAWN_H

#include "base/attributes.h"
#include "gait/error.h"
#include "inject/tracee.h"

/*
 * Starts arguments[0], found as a shell finds it, with our standard files, folder, environment and terminal. It is our
 * child, and stopped at its first instruction. -ENOENT, -EACCES and others: it cannot be executed; -EPERM: we may not
 * trace.
 */
MUST_USE int spawn_stopped(char *const arguments[], struct tracee *tracee_out, struct gait_error *err);

/*
 * Ends a program that was started so, before it has done anything, since something gave that result. -ESRCH: it has
 * ended itself, and thread->killed_by says by which signal. Functions that fail in here call it themselves.
 */
void spawn_abandon(struct tracee *thread, int result);

#endif

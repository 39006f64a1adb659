/* SPDX-License-Identifier: MIT */
/*
 * Programs that run with more privileges than the user who executes them: setuid, setgid, with capabilities. The kernel
 * takes these away from one that is traced by a process without privileges of its own; so such programs are left alone.
 * Who has the ids already that a program would give, as root has those of su, gains nothing.
 */
#ifndef GAIT_INJECT_PRIVILEGE_H
#define GAIT_INJECT_PRIVILEGE_H

#include "inject/tracee.h"

#include <stdbool.h>

/* Whether privileges stay what they are under us: then there is nothing to be afraid of before a program runs. */
bool privilege_survives_tracing(void);

/* Whether the program that the process runs got some when it was executed, or may not be read by any user. */
bool privilege_was_gained(pid_t pid);

/* Whether the file that a thread is about to execute would give it some, or cannot be read. */
bool privilege_would_be_gained(const struct tracee *tracee, const struct tracee_call *call);

#endif

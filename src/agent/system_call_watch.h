/* SPDX-License-Identifier: MIT */
/*
 * System calls of a process whose code is patched where it makes them (hook/system_call_gate.h): those of a set are
 * told in the detail lanes of their threads. One for the process.
 */
#ifndef GAIT_AGENT_SYSTEM_CALL_WATCH_H
#define GAIT_AGENT_SYSTEM_CALL_WATCH_H

#include "base/attributes.h"

#include <stdbool.h>

struct agent_options;

/*
 * As the options say; nothing, if they ask for nothing. Where a program is watched from its first instruction on,
 * `mapped` is called whenever it has mapped code of a file, until system_call_watch_started: its libraries make system
 * calls before the dynamic loader says that they are there. -ENOMEM.
 */
MUST_USE int system_call_watch_begin(const struct agent_options *options, void (*mapped)(void));

/* The dynamic loader is done with what the program needs. */
void system_call_watch_started(void);

/* No stub runs any more. */
void system_call_watch_end(void);

/* Whether somebody asked for them. */
bool system_call_watch_is_wanted(void);

#endif

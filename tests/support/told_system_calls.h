/* SPDX-License-Identifier: MIT */
/* System calls in a trace that is made by hand: a thread opens a file that is not there, writes, and executes a
 * program. */
#ifndef GAIT_TESTS_SUPPORT_TOLD_SYSTEM_CALLS_H
#define GAIT_TESTS_SUPPORT_TOLD_SYSTEM_CALLS_H

#include "support/trace_folder.h"

/* Of process 100, thread 101 of the example: openat, write, execve that fails, getppid, execve that does not return. */
void told_system_calls_put(struct trace_folder *folder);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Processes in containers have other numbers for themselves than we have for them: those of their own pid namespace.
 * Everything here is read from /proc.
 */
#ifndef GAIT_INJECT_PID_NAMESPACE_H
#define GAIT_INJECT_PID_NAMESPACE_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether the process counts as we do. */
bool pid_namespace_is_ours(pid_t pid);

/* What a thread of ours to name is called by itself; 0: it is gone. */
pid_t pid_namespace_inner_tid(pid_t pid, pid_t tid);

/* Which thread of the process calls itself that; 0: none. */
pid_t pid_namespace_outer_tid(pid_t pid, pid_t inner_tid);

/*
 * Calls `visit` for all processes that call themselves that in their namespace, the likeliest first, until it gives
 * true; returns that process, or 0.
 */
pid_t pid_namespace_find_process(pid_t inner_pid, bool (*visit)(void *context, pid_t pid), void *context);

#endif

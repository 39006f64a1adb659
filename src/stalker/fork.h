/* SPDX-License-Identifier: MIT */
/* A followed thread makes a process with a copy of all memory: the copy has an engine, too. */
#ifndef GAIT_STALKER_FORK_H
#define GAIT_STALKER_FORK_H

struct stalker_thread;
struct system_call;

/*
 * Makes the system call, a fork, for the thread. In the child it returns 0: there that thread is the only one that is
 * followed, no lock is taken, and events that were not delivered are left to the parent.
 */
long stalker_fork(struct stalker_thread *thread, const struct system_call *call);

#endif

/* SPDX-License-Identifier: MIT */
/* Runs on other threads that nobody waits for. */
#ifndef GAIT_LIBGAIT_RUN_ON_THREAD_H
#define GAIT_LIBGAIT_RUN_ON_THREAD_H

struct gait_stalker;

/* Gives back those that are done, or whose thread has ended. Any thread. */
void run_on_thread_collect(struct gait_stalker *stalker);

/* Waits for all of them and gives them back. When the stalker goes. */
void run_on_thread_end_all(struct gait_stalker *stalker);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A thread that follows and unfollows another one all the time, which so goes in and out of the engine's hands wherever
 * it happens to be. One in a process.
 */
#ifndef GAIT_TESTS_OUTSIDE_FOLLOWER_H
#define GAIT_TESTS_OUTSIDE_FOLLOWER_H

#include "gait/stalker.h"

/* From now on the calling thread is followed in turns, until stop. Ends the program if there is no thread to be had. */
void outside_follower_start(struct gait_stalker *stalker, const struct gait_follow_options *options);

/* Returns when the thread is not followed, and will not be. */
void outside_follower_stop(void);

/* How often the thread was followed since the start. */
unsigned long outside_follower_turns(void);

#endif

/* SPDX-License-Identifier: MIT */
/* Made anew each time: a process that forks between start and stop is nobody's business. */
#define _GNU_SOURCE
#include "support/outside_follower.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    pthread_t thread;
    struct gait_stalker *stalker;
    struct gait_follow_options options;
    int tid;
    atomic_bool is_ending;
    atomic_ulong turns;
} follower;

static void *take_turns(void *unused)
{
    (void)unused;
    while (!follower.is_ending) {
        if (gait_stalker_follow(follower.stalker, follower.tid, &follower.options, NULL) != 0)
            continue;
        follower.turns++;
        while (gait_stalker_unfollow(follower.stalker, follower.tid, NULL) != 0 &&
               gait_stalker_is_following(follower.stalker, follower.tid))
            ;
    }
    return NULL;
}

void outside_follower_start(struct gait_stalker *stalker, const struct gait_follow_options *options)
{
    follower.stalker = stalker;
    follower.options = *options;
    follower.tid = (int)syscall(SYS_gettid);
    follower.is_ending = false;
    follower.turns = 0;
    if (pthread_create(&follower.thread, NULL, take_turns, NULL) != 0) {
        perror("thread that follows");
        exit(1);
    }
}

void outside_follower_stop(void)
{
    follower.is_ending = true;
    pthread_join(follower.thread, NULL);
}

unsigned long outside_follower_turns(void)
{
    return follower.turns;
}

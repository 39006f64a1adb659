/* SPDX-License-Identifier: MIT */
/*
 * Which of the threads that are followed are observed. The others are followed too, in the quiet cache: so they are
 * there when they are named, and threads that they make are asked for as well.
 */
#ifndef GAIT_STALKER_THREAD_CHOICE_H
#define GAIT_STALKER_THREAD_CHOICE_H

#include "base/attributes.h"

#include <stdbool.h>

struct stalker_engine;
struct stalker_thread;

/* Whoever chooses. Is asked when a thread begins to be followed and when it has got a name, perhaps with locks held. */
struct thread_chooser {
    bool (*wants)(void *context, int tid, const char *name);
    void *context;
};

/* Lets somebody choose, before any thread is followed. -ENOMEM and what a new cache gives. */
MUST_USE int thread_choice_begin(struct stalker_engine *engine, const struct thread_chooser *chooser);

/* A thread begins, and does not run yet: its name is told, and somebody is asked about it. */
void thread_choice_ask(struct stalker_thread *thread);

/* The same for the calling thread, which is in the engine and has been named anew. */
void thread_choice_named(struct stalker_thread *thread);

#endif

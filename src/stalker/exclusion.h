/* SPDX-License-Identifier: MIT */
/*
 * Code in which nothing is observed. A thread that calls or jumps into an excluded range goes on in the engine's quiet
 * cache, where nothing is put into translations, until control is back in what called: so it keeps original return
 * addresses on its stack, and exceptions, long jumps and unfollowing work there as everywhere.
 */
#ifndef GAIT_STALKER_EXCLUSION_H
#define GAIT_STALKER_EXCLUSION_H

#include "base/address.h"
#include "base/attributes.h"
#include "base/interval_map.h"
#include "base/mutex.h"

#include <stdbool.h>

struct stalker_engine;
struct stalker_thread;
struct code_cache;

struct exclusions {
    struct mutex lock;          /* taken last */
    struct interval_map ranges; /* under lock */
};

/* Excludes [start, end). -EEXIST: it overlaps another one; -EINVAL: it is empty; -ENOMEM and what a new cache gives. */
MUST_USE int exclusion_add(struct stalker_engine *engine, uint64_t start, uint64_t end);

/* Takes an exclusion of exactly [start, end) back. -ENOENT: there is none. */
MUST_USE int exclusion_remove(struct stalker_engine *engine, uint64_t start, uint64_t end);

/*
 * Lets the calling thread, which is followed and in a native function, go on unobserved, or observed again. -ESRCH: it
 * is not followed; -ENOMEM and what a new cache gives.
 */
MUST_USE int exclusion_set_active(struct stalker_engine *engine, bool is_active);

/* Whether an address is excluded. Any thread. */
bool exclusion_holds(struct stalker_engine *engine, struct app_pc pc);

/* Whether a thread that comes to an address in that cache has to change to another one. */
bool exclusion_changes_cache(const struct code_cache *cache, struct app_pc pc);

/*
 * Lets a thread in the engine that goes on at context.pc change to the quiet cache, or back, if it has to. sp is its
 * stack pointer.
 */
void exclusion_apply(struct stalker_thread *thread, uint64_t sp);

/* ---- threads that are observed ----------------------------------------------------------------------------------- */

/*
 * Which of the threads that are followed are observed. The others are followed too, in the quiet cache: so they are
 * there when they are named, and threads that they make are asked for as well.
 */

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

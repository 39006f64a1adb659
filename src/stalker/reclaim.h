/* SPDX-License-Identifier: MIT */
/*
 * Giving memory back: translated code that nobody can be in any more, and what threads that ended have left behind.
 * Nobody is waited for: what cannot be given back yet is kept for the next time.
 */
#ifndef GAIT_STALKER_RECLAIM_H
#define GAIT_STALKER_RECLAIM_H

#include "stalker/stalker_engine.h"

struct stalker_thread;

/*
 * Retires the oldest code of the cache if it has more than its limit, and gives back what was retired before. For
 * whoever is about to translate.
 */
void reclaim_limit(struct code_cache *cache) REQUIRES(cache->lock);

/*
 * Gives back all that can be: whole slabs without a published block, threads that ended, caches of transformers that no
 * thread is followed with. Returns how many slabs are left that will be given back once nobody is in them. Any thread,
 * not in the engine.
 */
size_t reclaim_all(struct stalker_engine *engine);

/* Gives back some threads that ended, a few at a time. */
void reclaim_threads(struct stalker_engine *engine) REQUIRES(engine->lock);

/* The present epoch, for a thread that is in the engine and has not yet looked where it goes on. */
uint64_t reclaim_epoch(const struct stalker_thread *thread);

/* That thread goes on in what it found since, and never again in what was retired before that epoch. */
void reclaim_pass(struct stalker_thread *thread, uint64_t epoch);

#endif

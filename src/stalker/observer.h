/* SPDX-License-Identifier: MIT */
/* Telling somebody what the engine does. Called where it happens, by the thread that does it. */
#ifndef GAIT_STALKER_OBSERVER_H
#define GAIT_STALKER_OBSERVER_H

#include "gait/stalker.h"
#include "stalker/stalker_engine.h"

struct stalker_thread;

/* From now on; NULL: nobody. The observer must live until no thread can be in the engine any more. */
void observer_set(struct stalker_engine *engine, const struct gait_observer *observer);

/* What happened. Nothing if nobody wants to know. */
void observer_entered(struct stalker_thread *thread);
void observer_translated(const struct code_cache *cache, const struct block *block);
void observer_linked(const struct code_cache *cache, struct block_exit *exit, const struct block *to);

#endif

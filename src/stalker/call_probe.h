/* SPDX-License-Identifier: MIT */
/* Functions to be called whenever a followed thread enters the block at an address. */
#ifndef GAIT_STALKER_CALL_PROBE_H
#define GAIT_STALKER_CALL_PROBE_H

#include "gait/stalker.h"
#include "stalker/stalker_engine.h"

struct translation;

/* Adds one, behind those that are there. -ENOMEM. */
MUST_USE int call_probe_add(struct stalker_engine *engine, uint64_t target, gait_call_probe probe, void *data,
                            uint32_t *id_out);

/* Takes one away. A thread that is calling it right now goes on with that. -ENOENT: there is none with that id. */
MUST_USE int call_probe_remove(struct stalker_engine *engine, uint32_t id);

/*
 * A function of ours for an address, which stays as long as the engine: called before the probes, with the program's
 * registers, and without setting vector registers aside, so that it costs little. It may not change the pc. -ENOMEM;
 * -EEXIST: that one is there already; -EBUSY: so are two others.
 */
MUST_USE int call_probe_watch(struct stalker_engine *engine, uint64_t target, gait_callout function, void *data);

/*
 * The same for an instruction that may be in the middle of a block: blocks end before it from now on. Not while a block
 * is translated by the calling thread. -ENOMEM, -EEXIST, -EBUSY.
 */
MUST_USE int call_probe_watch_inside(struct stalker_engine *engine, uint64_t target, gait_callout function, void *data);

/* Where the block that begins at an address has to end, since somebody watches what is there. */
struct app_pc call_probe_border(const struct stalker_engine *engine, struct app_pc start)
    REQUIRES(engine->translation_lock);

/* Whether threads in that cache call probes at an address. */
bool call_probe_is_at(const struct code_cache *cache, struct app_pc pc);

/* Puts the call of all probes at the start of the block under way, if there are any. */
void call_probe_put(struct translation *translation);

#endif

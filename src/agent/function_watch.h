/* SPDX-License-Identifier: MIT */
/*
 * Functions whose calls are looked at one by one: for the detail lane, or because a call of them, or a slow one, is a
 * trigger. Each begins with a callout, and so does the code behind each call of it; a thread has a stack of the calls
 * that have not ended, which are known by their stack pointers: so long jumps and exceptions are noticed too. One for
 * the process.
 */
#ifndef GAIT_AGENT_FUNCTION_WATCH_H
#define GAIT_AGENT_FUNCTION_WATCH_H

#include "base/attributes.h"

#include <stdint.h>

struct agent_options;
struct agent_pattern;
struct detail_declaration;
struct detail_lane;
struct ring_region;
struct stalker_engine;
struct stalker_thread;

/* Before any function is added. -ENOMEM. */
MUST_USE int function_watch_begin(struct stalker_engine *engine, struct ring_region *ring,
                                  const struct agent_options *options);

/* No thread is followed, and the engine is gone. */
void function_watch_end(void);

/*
 * Looks at calls of the function from now on, as the pattern says, which must stay, and is the session's with that
 * number. Any thread; in the engine or before threads are followed.
 */
void function_watch_add(const struct agent_pattern *pattern, uint32_t number, uint64_t address, uint64_t size_bytes);

/* What its arguments are, unless the pattern by which it was added says so. */
void function_watch_declare(uint64_t address, const struct detail_declaration *declaration);

/* What was in that range is gone. */
void function_watch_remove(uint64_t start, uint64_t end);

/*
 * The detail lane of a thread that is followed, for others who tell something there; *depth_out: how many calls that
 * are looked at it is in. From translated code. NULL: it cannot be had.
 */
struct detail_lane *function_watch_lane(struct stalker_thread *thread, uint32_t *depth_out);

/* In a child that was just forked, with a ring of its own, for the thread that made it. */
void function_watch_begin_in_child(void);

#endif

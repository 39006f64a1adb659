/* SPDX-License-Identifier: MIT */
/*
 * The static probes (elf/static_probes.h) that a session looks at: those of each module that its patterns mean. They
 * are told to readers before anybody passes one, their semaphores are up while they are armed, and each time that one
 * is passed a record goes to the thread's detail lane. How they are armed is for others: by a hook
 * (agent/probe_hooks.h) or in translated code (agent/probe_watch.h). One for the process; the caller sees to it that
 * there is one change at a time.
 */
#ifndef GAIT_AGENT_PROBE_SET_H
#define GAIT_AGENT_PROBE_SET_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

struct agent_options;
struct agent_pattern;
struct agent_pattern_parts;
struct detail_lane;
struct elf_symbols;
struct gait_cpu_context;
struct mapping;
struct ring_region;

/* Stays, at its place, until the session ends. */
struct set_probe;

/* A module that is looked through, and the patterns that are about its probes: a bit for each. */
struct probe_search {
    const struct mapping *mapping;
    const struct elf_symbols *symbols;
    const struct agent_pattern *patterns; /* all of them; they stay until the session ends */
    const struct agent_pattern_parts *parts;
    uint64_t wanted;
};

void probe_set_begin(struct ring_region *ring, const struct agent_options *options);

/* Nothing is armed any more, and nobody is in code of ours. */
void probe_set_end(void);

/* Arms a probe; file_address is where its file has it. What fails is counted. */
typedef int (*probe_arm)(void *context, struct set_probe *probe, uint64_t file_address);

/* Whether a file has probes that are wanted; in any of its mappings. */
bool probe_set_has_any(const struct probe_search *search);

/* Adds those that are wanted, and are in the mapping, and has each armed. Returns the patterns that mean some. */
uint64_t probe_set_add(const struct probe_search *search, probe_arm arm, void *context);

/* Where it is in memory. */
uint64_t set_probe_address(const struct set_probe *probe);

/* Raises the semaphores of all that are armed and have not been raised. */
void probe_set_raise(void);

/* Lowers all that were raised. */
void probe_set_lower(void);

/* What was in that range is gone. */
void probe_set_forget(uint64_t start, uint64_t end);

/* In a child that was just forked, with a ring of its own: tells all of them again. */
void probe_set_begin_in_child(void);

/*
 * A thread passes the probe, with those registers; the lane is its own, and open. `depth` is how many calls that are
 * looked at it is in. No lock; no system call unless an argument is a string, or in memory that may not be there.
 */
void probe_set_passed(const struct set_probe *probe, struct detail_lane *lane, const struct gait_cpu_context *cpu,
                      uint32_t depth);

#endif

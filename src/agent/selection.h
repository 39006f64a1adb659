/* SPDX-License-Identifier: MIT */
/*
 * Which functions the patterns of a session mean: they are looked up in each module when it is mapped, before any of
 * its code runs. What they exclude is made quiet in the engine, everything else is somebody else's. One for the
 * process; the caller sees to it that there is one call at a time.
 */
#ifndef GAIT_AGENT_SELECTION_H
#define GAIT_AGENT_SELECTION_H

#include "protocol/agent_call.h"

#include <stdbool.h>
#include <stdint.h>

struct agent_pattern_parts;
struct mapping;
struct probe_search;
struct ring_region;
struct stalker_engine;

/* Which patterns are about a module: a bit for each. */
struct selection_search {
    const struct agent_pattern *patterns; /* all of them; they stay until the session ends, and so do the next two */
    const struct agent_pattern_parts *parts;
    const struct agent_known *known;   /* of functions that are looked at closely */
    const struct agent_places *places; /* functions that were looked up */
    bool is_addition; /* the module was looked through before: nothing but these functions is hooked now */
    uint64_t hooked;
    uint64_t detailed; /* calls are looked at one by one, see agent/call_details.h */
    uint64_t errno_places;
    uint64_t probed; /* its static probes are looked at */
    uint64_t excluded;
    uint64_t unresolved; /* filled in: those that mean functions which only choose another one */
};

/* Whether it is of the program itself, not of a library. From selection_begin on. */
bool selection_is_program(const struct mapping *mapping);

/* Is told of functions whose names match patterns that exclude nothing. In the engine, or before anything runs. */
struct selection_watcher {
    /*
     * A function that matches; the pattern, the session's with that number, stays until it ends. A function that has
     * several names, or is in both of a file's tables, is told once for each. size_bytes 0: nobody knows.
     */
    void (*add)(const struct agent_pattern *pattern, uint32_t number, uint64_t address, uint64_t size_bytes);
    /*
     * Looks through a module by itself, for what is hooked; `path` is its file's. Returns the patterns that have
     * matched something. NULL: names are looked up here.
     */
    uint64_t (*module)(const struct mapping *mapping, const char *path, struct selection_search *search);
    /* Looks at static probes, where functions are looked up here. Returns the patterns that mean some. May be NULL. */
    uint64_t (*probes)(const struct probe_search *search);
    /* What the arguments of one that was added are; stays as well. */
    void (*declare)(uint64_t address, const struct detail_declaration *declaration);
    /* What was there is gone. */
    void (*remove)(uint64_t start, uint64_t end);
};

/*
 * Takes the patterns, of which it keeps copies. The ring is told which ones matched something. watcher NULL: only what
 * is excluded counts. engine NULL: nothing is followed, and the watcher looks through modules.
 */
void selection_begin(struct stalker_engine *engine, struct ring_region *ring, const struct agent_options *options,
                     const struct selection_watcher *watcher);

/* A file is mapped to be executed there. */
void selection_module_loaded(const struct mapping *mapping);

/* It no longer is. */
/* A function that is known only now, at that address: hooks it for these patterns, in a module that was told before. */
void selection_function_found(uint64_t address, uint64_t patterns);

void selection_module_unloaded(uint64_t start, uint64_t end);

/* Forgets the patterns. */
void selection_end(void);

#endif

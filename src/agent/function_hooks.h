/* SPDX-License-Identifier: MIT */
/*
 * Functions that are hooked for a session: those that its patterns choose, which write records, and those by which the
 * process loads modules, makes processes and executes programs. Looked up module by module. One for the process; the
 * caller sees to it that there is one call at a time.
 */
#ifndef GAIT_AGENT_FUNCTION_HOOKS_H
#define GAIT_AGENT_FUNCTION_HOOKS_H

#include "base/attributes.h"
#include "gait/hook_invocation.h"

#include <stdbool.h>
#include <stdint.h>

struct mapping;
struct ring_region;
struct selection_search;

/* The dynamic loader calls `loader_notification`, if that is not 0, when its modules change: then so is `changed`. */
struct function_hooks_options {
    struct ring_region *ring;
    bool is_whole;  /* the program has not begun: nobody is in the middle of what is patched */
    bool is_static; /* no dynamic loader has relocated the program: when its main is called, it is, and has `started` */
    gait_invocation_function started;
    uint64_t loader_notification;
    gait_invocation_function changed;
};

void function_hooks_begin(const struct function_hooks_options *options);

/* Nothing is hooked any more, and nobody is in code of ours. */
void function_hooks_end(void);

/*
 * Adds hooks for a file that is mapped to be executed there; nobody runs it, or threads are moved out of what will
 * change before function_hooks_commit. Returns the patterns that have matched something.
 */
uint64_t function_hooks_add(const struct mapping *mapping, const char *path, struct selection_search *search);

/* Puts all of them in place. */
MUST_USE int function_hooks_commit(void);

/* The space that numbers of functions are of, for the lanes of threads. */
uint32_t function_hooks_space(void);

/* In a child that was just forked, with a ring of its own: tells all functions again. */
void function_hooks_begin_in_child(void);

#endif

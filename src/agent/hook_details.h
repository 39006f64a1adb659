/* SPDX-License-Identifier: MIT */
/*
 * Hooked functions whose calls are looked at one by one (agent/call_details.h): listeners that tell what is asked for.
 * One for the process.
 */
#ifndef GAIT_AGENT_HOOK_DETAILS_H
#define GAIT_AGENT_HOOK_DETAILS_H

#include "base/attributes.h"
#include "hook/hook_stub.h"

#include <stdbool.h>
#include <stdint.h>

struct agent_options;
struct detail_declaration;
struct detail_lane;
struct hook_thread;
struct ring_region;
struct system_call_frame;

/* Before any function is added. -ENOMEM, -ENOSYS: as call_stack_begin. */
MUST_USE int hook_details_begin(struct ring_region *ring, const struct agent_options *options);

/* No listener runs any more; hook_details_end_threads was called before. */
void hook_details_end(void);

/* Closes what threads have: no listener runs any more, and the states of threads are still there. */
void hook_details_end_threads(void);

/*
 * The listener for a function of which these patterns ask something; the declaration, if there is one, stays. False: no
 * memory.
 */
bool hook_details_listener(uint64_t patterns, const struct detail_declaration *declaration,
                           struct hook_listener *listener_out);

/* The thread's lane, made if need be; NULL: it cannot be had. */
struct detail_lane *hook_details_lane(struct hook_thread *thread);

/* How many system calls the thread has made that each injection concerns; NULL: there is no memory for it. */
uint32_t *hook_details_call_counts(struct hook_thread *thread);

/* Where the thread made a system call: at most DETAIL_STACK_FRAMES_MAX addresses; how many. Signals are blocked. */
uint32_t hook_details_walk(struct hook_thread *thread, const struct system_call_frame *frame, uint64_t *addresses_out);

/* For struct hook_threads_options. */
void hook_details_thread_ended(struct hook_thread *thread);
void hook_details_thread_forgotten(struct hook_thread *thread);

#endif

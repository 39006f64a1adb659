/* SPDX-License-Identifier: MIT */
/*
 * What is told of calls that are looked at one by one: arguments, results and stacks go to the thread's detail lane,
 * and calls, or slow ones, are triggers. It does not matter who stopped the call: followed code or a hook. Patterns are
 * known by their numbers in the session's list, a bit for each. One for the process; usable by any thread for itself.
 */
#ifndef GAIT_AGENT_CALL_DETAILS_H
#define GAIT_AGENT_CALL_DETAILS_H

#include "agent/detail_lane.h"

#include <stdbool.h>
#include <stdint.h>

struct agent_options;
struct call_stack_walker;
struct detail_declaration;
struct gait_cpu_context;
struct ring_region;

/* What a thread has for it. All zero: nothing yet. */
struct call_details_thread {
    struct detail_lane lane;
    struct call_stack_walker *walker; /* NULL: none yet */
    bool has_no_walker;               /* there is no memory for it */
    uint32_t call_counts[16];         /* of system calls that injections concern: AGENT_INJECTIONS_MAX */
};

/* A call that is looked at. */
struct detailed_call {
    uint64_t function; /* where it begins */
    uint64_t sp;       /* where its return address is */
    uint64_t return_address;
    uint64_t entered_time;
    uint64_t patterns;                            /* what is asked of it */
    const struct detail_declaration *declaration; /* NULL: nobody knows its arguments */
};

/* Takes from the options what is asked for; the patterns stay where they are. */
void call_details_begin(struct ring_region *ring, const struct agent_options *options);
void call_details_end(void);

/* Patterns that this is for. */
uint64_t call_details_patterns(void);

/* Those of them for which it matters when a call ends. */
uint64_t call_details_awaited(void);

/* Those that want to know who called it. */
uint64_t call_details_stacked(void);

/* The call has just entered, with those registers; `depth` others that are looked at have not ended. */
void call_details_enter(struct call_details_thread *own, const struct detail_owner *owner,
                        const struct gait_cpu_context *cpu, const struct detailed_call *call, uint32_t depth);

/* It has returned with those registers; NULL: it was left in another way. */
void call_details_leave(struct call_details_thread *own, const struct detail_owner *owner,
                        const struct gait_cpu_context *cpu, const struct detailed_call *call, uint32_t depth);

/*
 * Where the thread is that has these registers, as if it had just called something: return addresses, the nearest one,
 * which is the pc of the registers, first. How many; 0: there is no memory for that. Signals are blocked.
 */
uint32_t call_details_walk(struct call_details_thread *own, const struct gait_cpu_context *cpu, uint64_t sp,
                           uint64_t *addresses_out);

/* The thread has ended; it is not there, or its lanes are the parent's, in a child that was just forked. */
void call_details_thread_ended(struct call_details_thread *own);
void call_details_thread_forgotten(struct call_details_thread *own);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Which calls a goroutine is in when a thread goes on with it that another one has left off. Threads are read one by
 * one, each with what it has seen itself; this has what it has not. Made once for a process, in one pass over all of
 * its threads; then it does not change, and any number of threads may look.
 */
#ifndef GAIT_VIEW_GOROUTINE_STACKS_H
#define GAIT_VIEW_GOROUTINE_STACKS_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct goroutine_stacks;
struct view_trace;

/* A call that has not ended. */
struct goroutine_call {
    uint64_t function;
    uint64_t begin;
    int32_t depth; /* as events of Go's functions have it: with EVENT_HEIGHT */
};

/* A thread goes on with it. */
struct goroutine_arrival {
    const struct goroutine_call *calls; /* the outermost first */
    size_t count;
    uint64_t left; /* when the other thread was last seen with it */
};

/* NULL in *stacks_out: threads of that process do not tell of goroutines. -ENOMEM. */
MUST_USE int goroutine_stacks_read(struct goroutine_stacks **stacks_out, const struct view_trace *trace,
                                   size_t process);
void goroutine_stacks_destroy(struct goroutine_stacks *stacks);

/* What a thread finds, by its index in the trace, when it tells at that time that it runs another goroutine. False: the
 * goroutine is new, or that thread itself had it last. */
bool goroutine_stacks_arrive(const struct goroutine_stacks *stacks, size_t thread, uint64_t time,
                             struct goroutine_arrival *arrival_out);

/* Whether the thread is the last one that was seen with the goroutine. */
bool goroutine_stacks_ends_in(const struct goroutine_stacks *stacks, uint64_t goroutine, size_t thread);

#endif

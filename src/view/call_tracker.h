/* SPDX-License-Identifier: MIT */
/*
 * Calls out of events: what began when, and ended when, in the order of one thread's events. Hooked functions tell both
 * (enter, leave); where code was followed, they are put together from calls and returns. Memory grows with how deep
 * calls go. One thread at a time.
 */
#ifndef GAIT_VIEW_CALL_TRACKER_H
#define GAIT_VIEW_CALL_TRACKER_H

#include "base/attributes.h"
#include "base/hash_map.h"
#include "gait/stalker.h"

#include <stddef.h>
#include <stdint.h>

struct goroutine_stacks;
struct trace_span;

enum call_flag {
    CALL_GUESSED = 1u << 0, /* its times are between others that are known, no more */
    CALL_CUT = 1u << 1, /* its end was not seen, since events are missing or the recording ended: it lasted longer */
    CALL_UNWOUND = 1u << 2,    /* an exception or a long jump ended it */
    CALL_NO_RETURN = 1u << 3,  /* its return was not seen: it may be any of these, or have returned where nobody looked;
                                  it ended at `end` or before */
    CALL_SUSPENDED = 1u << 5,  /* it did not end: the thread goes on on another stack */
    CALL_RESUMED = 1u << 6,    /* it did not begin: the thread has come back to its stack */
    CALL_ENTRY_ONLY = 1u << 7, /* nobody looked when it ended, which may be much later than `end`: it has no duration */
};

struct view_call {
    uint64_t function; /* where it begins */
    uint64_t site;     /* of the call instruction; 0: not known */
    uint32_t depth;    /* how many calls of the thread are open around it */
    uint32_t flags;    /* of enum call_flag */
    uint64_t begin;    /* the counter */
    uint64_t end;      /* 0: it has not ended */
    uint64_t inner;    /* of end - begin, and what it waited: how much was spent in calls that it made */
    /* Of one that was suspended, which is told in parts, each of which begins and ends: */
    uint64_t first_begin; /* of its first part; 0: that was not seen */
    uint64_t earlier;     /* how long the parts before this one took together */
    uint64_t waited; /* of `earlier`: what no part has; of a goroutine, between the part before this one and this one */
    uint64_t earlier_inner; /* and how much of that was spent in calls that it made */
};

/* How long it was on its stack, in all its parts up to this one. */
static inline uint64_t view_call_ticks(const struct view_call *call)
{
    return call->earlier + (call->end - call->begin);
}

/* The same of this part alone: all parts of a call add up to the whole. */
static inline uint64_t view_call_part_ticks(const struct view_call *call)
{
    return call->waited + (call->end - call->begin);
}

struct call_receiver {
    /* Nonzero from any of them: no more is told. */
    int (*begin)(void *context, const struct view_call *call);
    /* Of the innermost one that began; all that began end, if only by CALL_CUT. */
    int (*end)(void *context, const struct view_call *call);
    /* Events are missing here, after all calls have ended as CALL_CUT; 0 bytes: left out, since nobody asked for them.
     * NULL: that does not matter. */
    int (*gap)(void *context, uint64_t time, uint64_t lost_bytes);
    void *context;
    /* There are no more events, and this call, whose last part has ended as CALL_SUSPENDED, is suspended for good.
     * NULL: that does not matter. */
    int (*never_resumed)(void *context, const struct view_call *call);
};

/* A call that has not ended, and the depth that events give it. */
struct tracked_call {
    struct view_call call;
    int32_t event_depth;
};

/* A call that is suspended: its last part. */
struct parked_call {
    struct view_call call;
    uint64_t stack; /* by its number */
};

/* A goroutine that the thread was seen with, and the calls that it was in. */
struct parked_goroutine {
    uint64_t goroutine;
    struct tracked_call *calls;
    size_t count;
    size_t capacity;
    uint64_t left; /* when the thread went on with another one */
};

struct call_tracker {
    struct call_receiver receiver;
    const struct goroutine_stacks *goroutine_stacks; /* NULL: there is nothing else to know of goroutines */
    size_t thread;                                   /* who it is there */
    uint64_t goroutine;                              /* that the thread runs; 0: not known */
    struct hash_map goroutine_numbers;               /* goroutine -> which one of these; if there are any */
    struct parked_goroutine *goroutines;
    size_t goroutine_count;
    size_t goroutine_capacity;
    struct tracked_call *open;
    size_t open_count;
    size_t open_capacity;
    struct parked_call *parked;
    size_t parked_count;
    size_t parked_capacity;
    uint64_t last_time;
    uint64_t previous_time; /* of the event before the last one */
    int result;             /* not 0: the receiver's, or -ENOMEM */
};

/* Takes no memory yet. */
void call_tracker_init(struct call_tracker *tracker, const struct call_receiver *receiver);
void call_tracker_deinit(struct call_tracker *tracker);

/* What other threads of the process have seen of goroutines, and which thread this is. Stays the caller's. */
void call_tracker_know_goroutines(struct call_tracker *tracker, const struct goroutine_stacks *stacks, size_t thread);

/* The next events of the thread; those that are no calls are passed over. Returns tracker->result. */
MUST_USE int call_tracker_take(struct call_tracker *tracker, const struct gait_event *events, size_t count,
                               const struct trace_span *span);

/* Events are missing here. */
void call_tracker_lose(struct call_tracker *tracker, uint64_t bytes);

/* There are no more. */
void call_tracker_finish(struct call_tracker *tracker);

#endif

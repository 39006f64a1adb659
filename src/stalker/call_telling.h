/* SPDX-License-Identifier: MIT */
/*
 * System calls of followed threads for who wants to know of them: when they are made, and what came of it. They are
 * made in the cache, where signals find the program's state; the thread comes to the engine before and behind. A call
 * that has not returned is known by its stack pointer: handlers may make others before it does. In the engine, or where
 * a signal has interrupted the thread, whose own this is.
 */
#ifndef GAIT_STALKER_CALL_TELLING_H
#define GAIT_STALKER_CALL_TELLING_H

#include <stdbool.h>
#include <stdint.h>

struct gait_cpu_context;
struct stalker_engine;
struct stalker_thread;
struct system_call;

#define TOLD_CALLS_MAX 16u

/* One that has not returned. */
struct told_call {
    uint64_t sp;
    uint64_t next; /* where it returns to */
    uint64_t time; /* the counter */
    int64_t number;
};

/* A call as it is told. */
struct made_call {
    int64_t number;
    uint64_t arguments[6];
    int64_t result;
    uint64_t entered_time;
    uint64_t sp;
};

struct call_teller {
    /* It is about to be made, and may not return; one that surely does not is told by this only. */
    void (*enters)(struct stalker_thread *thread, const struct made_call *call, bool may_return);
    void (*left)(struct stalker_thread *thread, const struct made_call *call);
};

/* Which numbers: a bit for each of the first `count`, the last of which stands for all above it. Before threads run. */
void call_telling_begin(struct stalker_engine *engine, const struct call_teller *teller, const uint64_t *numbers,
                        uint32_t count);

/* It is being made, and will come back to call_telling_returned; may_end: perhaps not. */
void call_telling_makes(struct stalker_thread *thread, const struct system_call *call, bool may_end);

/* It will not come back. */
void call_telling_ends(struct stalker_thread *thread, const struct system_call *call);

/* It was made by the engine itself. */
void call_telling_made(struct stalker_thread *thread, const struct system_call *call, uint64_t entered_time,
                       long result);

/* The thread is where it may come back from one, with those registers. */
void call_telling_returned(struct stalker_thread *thread, const struct gait_cpu_context *cpu);

#endif

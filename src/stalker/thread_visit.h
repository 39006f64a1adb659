/* SPDX-License-Identifier: MIT */
/*
 * A function that runs on another thread with the program's registers, whether the engine follows that thread or not. A
 * visit is storage of its own, since nobody may wait for it.
 */
#ifndef GAIT_STALKER_THREAD_VISIT_H
#define GAIT_STALKER_THREAD_VISIT_H

#include "base/attributes.h"
#include "stalker/errand.h"

struct gait_cpu_context;
struct thread_registers;
struct thread_run;

/* The caller sets the first two and keeps the visit as it is until it has ended. */
struct thread_visit {
    void (*function)(const struct gait_cpu_context *cpu, void *data);
    void *data;
    struct stalker_engine *engine;
    int tid;
    struct thread_run *run;    /* of a thread that is not followed; else NULL */
    struct thread_visit *next; /* of such threads, in the engine's list; its lock */
    struct stalker_errand errand;
};

/*
 * Begins a visit; comes back when the function is sure to run. -ESRCH: this process has no such thread; else as
 * errand_send and thread_run_begin: then it does not run. Not for the calling thread; not in the engine.
 */
MUST_USE int thread_visit_begin(struct thread_visit *visit, struct stalker_engine *engine, int tid);

/* Whether the function has returned. */
bool thread_visit_is_done(struct thread_visit *visit);

/* Waits until it has and gives back what the visit took. -ESRCH: the thread ended before. */
MUST_USE int thread_visit_end(struct thread_visit *visit);

/*
 * Whether a stopped thread that is not followed, or was until just now, is at such a function or on its way from it, or
 * still in the engine: its registers are not the program's.
 */
bool thread_visit_holds(struct stalker_engine *engine, int tid, const struct thread_registers *registers)
    REQUIRES(engine->lock);

/* Makes a followed thread hand over its events. Errors as errand_send. */
MUST_USE int thread_visit_flush(struct stalker_engine *engine, int tid);

#endif

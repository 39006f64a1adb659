/* SPDX-License-Identifier: MIT */
/*
 * A short-lived process that shares our memory, to do what Linux lets no thread do to another one of the same process:
 * trace it. It is not seen by the program's wait(), makes no SIGCHLD, and ends with the program if that is killed
 * meanwhile; only a wait for children of any kind (__WALL, __WCLONE) could see it.
 *
 * Caller and helper talk by a phase that one of them changes while the other waits for that, so that nothing else that
 * they share needs a lock. When the helper ends, in whatever way, the kernel itself stores HELPER_GONE: the caller
 * never waits for the other when that is gone.
 *
 * What the helper runs is marked UNSANITIZED and makes raw system calls only: it has a stack of its own, but the
 * caller's thread pointer. All signals of the caller must be held back while it has a helper. One at a time in a
 * process, by the lock here. Callable from any thread, in signal handlers and inside the target.
 */
#ifndef GAIT_PROCESS_TRACING_HELPER_H
#define GAIT_PROCESS_TRACING_HELPER_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum helper_phase {
    HELPER_GONE, /* stored by the kernel */
    HELPER_STARTING,
    HELPER_REFUSED, /* a thread may not be traced; the caller may be able to change that */
    CALLER_RETRY,
    HELPER_STOPPED, /* threads are stopped and their registers are here */
    CALLER_MORE,    /* there are more to be stopped */
    CALLER_LEAVE,   /* let them go on as they were */
    CALLER_WRITE,   /* let them go on with these registers */
    HELPER_GAVE_UP, /* the caller took too long; it may itself be stopped by job control */
};

/* No -errno: nothing came of it, because the helper did not get that far. */
#define HELPER_NO_OUTCOME 1

/* The head of the memory that caller and helper share. */
struct tracing_helper {
    _Atomic uint32_t phase; /* of enum helper_phase; a futex */
    int process;            /* ours, not the helper's */
    int pid;                /* the helper's, as its parent knows it */
    int outcome;            /* the helper's; 0, -errno or HELPER_NO_OUTCOME */
    size_t memory_bytes;
    void (*run)(struct tracing_helper *helper);
};

/*
 * Holds all signals of the calling thread back and takes the lock. -EOPNOTSUPP: children of the calling thread get
 * another pid namespace, where a helper could name no thread of ours; -EDEADLK, -ETIMEDOUT: of the lock.
 */
MUST_USE int tracing_helper_enter(uint64_t *signals_out);
void tracing_helper_leave(uint64_t signals);

/* Memory for both, zeroed: a struct that begins with a tracing_helper, and a stack behind it. -ENOMEM. */
MUST_USE int tracing_helper_create(size_t struct_bytes, struct tracing_helper **helper_out);

/* Gives the memory back of one that was not started. */
void tracing_helper_discard(struct tracing_helper *helper);

/*
 * Starts run(helper) in a process of its own. -EAGAIN, -ENOMEM: no process to be had; then the memory is given back.
 */
MUST_USE int tracing_helper_start(struct tracing_helper *helper, void (*run)(struct tracing_helper *helper));

/*
 * Waits until the helper is gone, ends it if it takes too long, gives its memory back and returns what came of it.
 * -EIO: it was killed; -ETIMEDOUT.
 */
int tracing_helper_end(struct tracing_helper *helper, unsigned timeout_ms);

/* Changes the phase. Returns whether it was still `from`: the helper may have ended. Both. */
bool tracing_helper_set_phase(struct tracing_helper *helper, uint32_t from, enum helper_phase to);

/* Returns the next phase, or `phase` when the time is over. 0: no bound. Both. */
uint32_t tracing_helper_wait(struct tracing_helper *helper, enum helper_phase phase, unsigned timeout_ms);

/*
 * In phase HELPER_REFUSED: makes the process traceable where the system protects it (PR_SET_DUMPABLE, PR_SET_PTRACER),
 * lets the helper try again, waits for what comes of that and protects the process again. The caller.
 */
uint32_t tracing_helper_allow(struct tracing_helper *helper, unsigned timeout_ms);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Something that one thread wants done on another one that is followed: between two of the program's instructions, in
 * the engine, with the program's registers in thread->context. The thread is brought into the engine for it, wherever
 * in the cache it is, also in a system call that waits.
 */
#ifndef GAIT_STALKER_ERRAND_H
#define GAIT_STALKER_ERRAND_H

#include "base/attributes.h"
#include "stalker/stalker_engine.h"

#include <stdatomic.h>
#include <stdint.h>

struct stalker_thread;

enum errand_state {
    ERRAND_NEW,
    ERRAND_WAITING, /* in the thread's list */
    ERRAND_TAKEN,   /* the thread is about to run it, or does */
    ERRAND_DONE,
};

/* The sender sets the first two, the rest to 0. */
struct stalker_errand {
    void (*run)(struct stalker_thread *thread, void *context);
    void *context;
    struct stalker_errand *next;
    struct stalker_thread *thread; /* whose list it is in */
    _Atomic uint32_t state;        /* enum errand_state; a futex */
};

/*
 * Sends a thread on an errand and comes back when it is about to run it: from then on the errand must stay as it is
 * until its state is ERRAND_DONE. What can go wrong, with the errand not run: -ESRCH: the thread is not followed, or
 * ended; -ETIMEDOUT: it was in functions of the user's for two seconds; else as thread_modify. Not for the calling
 * thread; not in the engine.
 */
MUST_USE int errand_send(struct stalker_engine *engine, int tid, struct stalker_errand *errand);

/* Waits for an errand that was sent. -ESRCH: the thread ended meanwhile. */
MUST_USE int errand_wait(struct stalker_errand *errand, int tid);

/* Runs what others sent the thread for, if it is. On that thread, in the engine, with its context complete. */
void errand_run_all(struct stalker_thread *thread);

/* Forgets what was sent, without running it: in a child that a followed thread made. */
void errand_forget_all(struct stalker_thread *thread);

#endif

/* SPDX-License-Identifier: MIT */
/* Beginning and ending to follow a thread. */
#ifndef GAIT_STALKER_FOLLOW_H
#define GAIT_STALKER_FOLLOW_H

#include "base/attributes.h"
#include "ring/left_log.h"
#include "stalker/event_buffer.h"
#include "stalker/stalker_engine.h"
#include "stalker/thread.h"

#include <stdbool.h>

struct stalker_engine;
struct stalker_thread;

/* How one thread is followed. */
struct follow_request {
    struct follow_configuration configuration;
    struct event_receiver receiver; /* without a function: the newest events are kept */
    size_t buffer_bytes;            /* 0: the engine's choice */
    bool new_threads;
    bool is_whole; /* the thread is at its first instruction, so it never returns from where it is now */
};

/*
 * Makes a stalker_thread for the calling thread, which then enters the cache through stalker_follow_caller. -EALREADY:
 * it is followed; -ENOMEM.
 */
MUST_USE int stalker_follow_prepare(struct stalker_engine *engine, const struct follow_request *request,
                                    struct stalker_thread **thread_out);

/*
 * Makes a stalker_thread for any thread and puts it on the list. Then it is either let into the cache, or taken off the
 * list by stalker_follow_cancel. Errors as above; -EAGAIN: it was followed, and is just leaving.
 */
MUST_USE int stalker_follow_create(struct stalker_engine *engine, int tid, const struct follow_request *request,
                                   struct stalker_thread **thread_out) REQUIRES(engine->lock);
void stalker_follow_cancel(struct stalker_thread *thread) REQUIRES(thread->engine->lock);

/* A thread that was taken out of the cache, or has ended, is followed no more: its events are handed over. */
void stalker_follow_end(struct stalker_thread *thread) REQUIRES(thread->engine->lock);

/* Lets the thread, which is in the engine, go on at context.pc in the original code, and follows it no more. */
void stalker_leave_natively(struct stalker_thread *thread);

/*
 * Lets the calling thread leave the cache when the native function that it is in returns. -ESRCH: it is not followed.
 */
MUST_USE int stalker_unfollow_current(struct stalker_engine *engine);

/* Hands a thread's events so far to its receiver, or makes room in its ring. It has some; it is in the engine or
 * stopped. */
void stalker_read_events(struct stalker_thread *thread, enum event_place place);

/* Hands the calling thread's events to its receiver. From a native function that it calls. */
void stalker_flush_current(struct stalker_engine *engine);

/* Any thread. */
bool stalker_is_following(struct stalker_engine *engine, int tid);

/*
 * Makes the system call in the thread's context, which makes a thread, and follows that one alike; *result_out is what
 * the kernel said. -ENOMEM: nothing was done.
 */
MUST_USE int stalker_follow_clone(struct stalker_thread *thread, long *result_out);

/* Gives a thread that is in no list, and will not run again, back. */
void stalker_thread_destroy(struct stalker_thread *thread);

/* Lets a thread that is in the engine go on in a cache. */
void stalker_thread_use_cache(struct stalker_thread *thread, struct code_cache *cache);

/* A thread made so is now running. */
void stalker_thread_began(struct stalker_thread *thread);

/* The calling thread or another one, if followed, else NULL. */
struct stalker_thread *stalker_thread_find(struct stalker_engine *engine, int tid) REQUIRES(engine->lock);

int stalker_current_tid(void);

/*
 * Calls prepare(a, b, c, &thread). If that gives 0 and a thread, returns 0 with the caller followed from there on; else
 * returns what prepare did. In arch/<cpu>/host.
 */
int stalker_follow_caller(void *a, const void *b, void *c,
                          int (*prepare)(void *a, const void *b, void *c, struct stalker_thread **thread_out));

/* ---- threads that go on natively --------------------------------------------------------------------------------- */

/* A thread goes on without being followed: it is counted, and told in its ring, so that nobody has to wonder. */

/* The thread is in the engine, with the program's pc in its context. */
void thread_left_tell(const struct stalker_thread *thread, enum ring_left_reason reason);

#endif

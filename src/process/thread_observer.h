/* SPDX-License-Identifier: MIT */
/*
 * Which threads start, end and get other names. Linux tells nobody of its own accord, so somebody has to look: whoever
 * wants to know now (thread_observer_look), or whoever sees it happen, since he follows the thread or has hooked what
 * starts threads (thread_observer_look_at). Nothing is polled.
 *
 * Raw system calls, memory of its own, one lock: callable from any thread and inside the target; not in signal handlers
 * that may interrupt it.
 */
#ifndef GAIT_PROCESS_THREAD_OBSERVER_H
#define GAIT_PROCESS_THREAD_OBSERVER_H

#include "base/attributes.h"
#include "base/list.h"
#include "base/pool.h"
#include "process/owner_lock.h"
#include "process/thread_name.h"

#include <stdint.h>

struct observed_thread {
    int tid;
    uint64_t start_time; /* as the kernel counts it: tells apart threads that had the same tid */
    char name[THREAD_NAME_BYTES];
};

/*
 * All may be NULL. Called one at a time, with the observer's lock held, on the thread that looks. `time` is when that
 * looked, of the CPU's counter.
 */
struct thread_listener {
    void *context;
    void (*started)(void *context, const struct observed_thread *thread, uint64_t time);
    void (*ended)(void *context, const struct observed_thread *thread, uint64_t time);
    void (*renamed)(void *context, const struct observed_thread *thread, const char *name_before, uint64_t time);
};

struct thread_observer {
    struct owner_lock lock;
    const struct thread_listener *listener;
    struct pool pool;
    struct list_node known;
};

/* The listener must stay good as long as the observer. Nothing is told before the first look. */
void thread_observer_init(struct thread_observer *observer, const struct thread_listener *listener);
void thread_observer_deinit(struct thread_observer *observer);

/*
 * Looks at all threads and tells what has changed; the first time, all of them. One that came and went in between is
 * not told. -ENOENT: there is no /proc; -EMFILE, -ENFILE; -ENOMEM: some are told next time; -ETIMEDOUT, -EDEADLK: of
 * the lock.
 */
MUST_USE int thread_observer_look(struct thread_observer *observer);

/* The same at one thread only, which may have come, gone, or been renamed. */
MUST_USE int thread_observer_look_at(struct thread_observer *observer, int tid);

/* A thread is about to end, which is told now and not once more when it is gone. Errors as above. */
MUST_USE int thread_observer_note_end(struct thread_observer *observer, int tid);

#endif

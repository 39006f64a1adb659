/* SPDX-License-Identifier: MIT */
/*
 * The core's observers of threads, with listeners of the caller's. Hooks tell all of them what happens; so they are
 * never freed, but used again. `is_active` is changed and looked at with the observer's lock held, which is around the
 * core's.
 */
#define _GNU_SOURCE
#include "gait/process.h"
#include "hosted/error_text.h"
#include "libgait/export.h"
#include "libgait/options.h"
#include "libgait/thread_watch.h"
#include "process/thread_observer.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LOCK_TIMEOUT_MS 10000u

struct gait_thread_observer {
    struct gait_thread_listener wanted;
    struct thread_listener listener;
    struct thread_observer observer;
    struct owner_lock lock;
    bool is_active;
    bool is_taken;                     /* under all_lock */
    struct gait_thread_observer *next; /* of all; never changes */
};

static const struct options_type listener_type = {
    "observe threads",
    "gait_thread_listener",
    sizeof(struct gait_thread_listener),
};

static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gait_thread_observer *_Atomic all;
static bool is_fork_watched;

/* ---- telling ----------------------------------------------------------------------------------------------------- */

static void started(void *context, const struct observed_thread *thread, uint64_t time)
{
    const struct gait_thread_listener *wanted = context;

    if (wanted->started != NULL)
        wanted->started(wanted->context, thread->tid, thread->name, time);
}

static void ended(void *context, const struct observed_thread *thread, uint64_t time)
{
    const struct gait_thread_listener *wanted = context;

    if (wanted->ended != NULL)
        wanted->ended(wanted->context, thread->tid, thread->name, time);
}

static void renamed(void *context, const struct observed_thread *thread, const char *name_before, uint64_t time)
{
    const struct gait_thread_listener *wanted = context;

    if (wanted->renamed != NULL)
        wanted->renamed(wanted->context, thread->tid, name_before, thread->name, time);
}

static int look(struct gait_thread_observer *observer, int tid, bool is_end)
{
    int result = owner_lock_acquire(&observer->lock, LOCK_TIMEOUT_MS);

    if (result != 0)
        return result;
    if (observer->is_active && is_end)
        result = thread_observer_note_end(&observer->observer, tid);
    else if (observer->is_active)
        result =
            tid == 0 ? thread_observer_look(&observer->observer) : thread_observer_look_at(&observer->observer, tid);
    owner_lock_release(&observer->lock);
    return result;
}

/* As it happens; a listener that makes threads itself hears of them when somebody looks. */
static void watched(enum thread_watch_event event, int tid)
{
    for (struct gait_thread_observer *observer = all; observer != NULL; observer = observer->next)
        (void)look(observer, tid, event == THREAD_ENDS);
}

/* ---- coming and going -------------------------------------------------------------------------------------------- */

/* Other threads are not here, and what they had locked is nobody's. */
static void in_child(void)
{
    for (struct gait_thread_observer *observer = all; observer != NULL; observer = observer->next) {
        observer->lock = (struct owner_lock){0};
        observer->observer.lock = (struct owner_lock){0};
    }
    pthread_mutex_init(&all_lock, NULL);
}

static struct gait_thread_observer *take_observer(void)
{
    struct gait_thread_observer *observer;

    pthread_mutex_lock(&all_lock);
    if (!is_fork_watched)
        is_fork_watched = pthread_atfork(NULL, NULL, in_child) == 0;
    for (observer = all; observer != NULL && observer->is_taken; observer = observer->next)
        continue;
    if (observer == NULL) {
        observer = calloc(1, sizeof(*observer));
        if (observer != NULL) {
            observer->next = all;
            all = observer;
        }
    }
    if (observer != NULL)
        observer->is_taken = true;
    pthread_mutex_unlock(&all_lock);
    return observer;
}

static int begin(struct gait_thread_observer *observer, const struct gait_thread_listener *wanted)
{
    int result = owner_lock_acquire(&observer->lock, LOCK_TIMEOUT_MS);

    if (result != 0)
        return result;
    observer->wanted = *wanted;
    observer->listener = (struct thread_listener){&observer->wanted, started, ended, renamed};
    thread_observer_init(&observer->observer, &observer->listener);
    observer->is_active = true;
    owner_lock_release(&observer->lock);
    return 0;
}

EXPORT int gait_thread_observer_look(struct gait_thread_observer *observer, int tid, struct gait_error *err)
{
    int result;

    if (observer == NULL)
        return error_set(err, EINVAL, "cannot look at threads: there is no observer");
    result = look(observer, tid, false);
    if (result == -EDEADLK)
        return error_set(err, result, "cannot look at threads: a listener of the same observer is being called");
    if (result != 0)
        return error_set(err, result, "cannot look at threads: /proc/self/task: %s", strerror(-result));
    return 0;
}

EXPORT int gait_thread_observer_create(const struct gait_thread_listener *listener, bool is_automatic,
                                       struct gait_thread_observer **observer_out, struct gait_error *err)
{
    struct gait_thread_observer *observer;
    struct gait_thread_listener wanted;
    int result = options_read(&listener_type, listener, &wanted, err);

    if (result != 0)
        return result;
    observer = take_observer();
    if (observer == NULL || begin(observer, &wanted) != 0)
        return error_set(err, ENOMEM, "cannot observe threads: there is no memory");
    /* First this, so that none is missed. */
    if (is_automatic)
        result = thread_watch_begin(watched, err);
    if (result == 0)
        result = gait_thread_observer_look(observer, 0, err);
    if (result != 0) {
        gait_thread_observer_destroy(observer);
        return result;
    }
    *observer_out = observer;
    return 0;
}

EXPORT void gait_thread_observer_destroy(struct gait_thread_observer *observer)
{
    if (observer == NULL || owner_lock_acquire(&observer->lock, LOCK_TIMEOUT_MS) != 0)
        return;
    observer->is_active = false;
    thread_observer_deinit(&observer->observer);
    owner_lock_release(&observer->lock);
    pthread_mutex_lock(&all_lock);
    observer->is_taken = false;
    pthread_mutex_unlock(&all_lock);
}

/* SPDX-License-Identifier: MIT */
/* The core's observer of threads, with the listener of the caller's. */
#include "gait/process.h"
#include "libgait/error.h"
#include "libgait/export.h"
#include "libgait/options.h"
#include "process/thread_observer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct gait_thread_observer {
    struct gait_thread_listener wanted;
    struct thread_listener listener;
    struct thread_observer observer;
};

static const struct options_type listener_type = {
    "observe threads",
    "gait_thread_listener",
    sizeof(struct gait_thread_listener),
};

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

EXPORT int gait_thread_observer_look(struct gait_thread_observer *observer, int tid, struct gait_error *err)
{
    int result;

    if (observer == NULL)
        return error_set(err, EINVAL, "cannot look at threads: there is no observer");
    result = tid == 0 ? thread_observer_look(&observer->observer) : thread_observer_look_at(&observer->observer, tid);
    if (result == -EDEADLK)
        return error_set(err, result, "cannot look at threads: a listener of the same observer is being called");
    if (result != 0)
        return error_set(err, result, "cannot look at threads: /proc/self/task: %s", strerror(-result));
    return 0;
}

EXPORT int gait_thread_observer_create(const struct gait_thread_listener *listener,
                                       struct gait_thread_observer **observer_out, struct gait_error *err)
{
    struct gait_thread_observer *observer = malloc(sizeof(*observer));
    int result;

    if (observer == NULL)
        return error_set(err, ENOMEM, "cannot observe threads: there is no memory");
    result = options_read(&listener_type, listener, &observer->wanted, err);
    if (result != 0) {
        free(observer);
        return result;
    }
    observer->listener = (struct thread_listener){&observer->wanted, started, ended, renamed};
    thread_observer_init(&observer->observer, &observer->listener);
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
    if (observer == NULL)
        return;
    thread_observer_deinit(&observer->observer);
    free(observer);
}

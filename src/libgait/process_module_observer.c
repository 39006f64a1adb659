/* SPDX-License-Identifier: MIT */
/*
 * The core's observer of modules, called by a hook of the loader, with the listener of the caller's. Observers are
 * never freed, but used again: a call of the hook may be under way when one is destroyed. The lock is that of the
 * core's observer; `is_active` is changed and looked at with it held.
 */
#define _GNU_SOURCE
#include "process/module_observer.h"

#include "gait/process.h"
#include "hosted/error_text.h"
#include "libgait/export.h"
#include "libgait/loader_watch.h"
#include "libgait/options.h"
#include "libgait/process_module.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LOCK_TIMEOUT_MS 10000u

struct gait_module_observer {
    struct gait_module_listener wanted;
    struct module_listener listener;
    struct module_observer observer;
    struct owner_lock lock; /* around the core's, which begins anew with each use */
    struct loader_watch watch;
    bool is_active;
    bool is_taken;                     /* under all_lock */
    struct gait_module_observer *next; /* of all; never changes */
};

static const struct options_type listener_type = {
    "observe modules",
    "gait_module_listener",
    sizeof(struct gait_module_listener),
};

static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gait_module_observer *_Atomic all;
static bool is_fork_watched;

/* ---- telling ----------------------------------------------------------------------------------------------------- */

static void loaded(void *context, const struct module *module, uint64_t time)
{
    const struct gait_module_listener *wanted = context;
    struct process_module filled;

    if (wanted->loaded == NULL)
        return;
    process_module_fill(module, &filled);
    wanted->loaded(wanted->context, &filled.module, time);
}

static void unloaded(void *context, const struct module *module, uint64_t time)
{
    const struct gait_module_listener *wanted = context;
    struct process_module filled;

    if (wanted->unloaded == NULL)
        return;
    process_module_fill(module, &filled);
    /* What is there now is something else. */
    filled.module.segment_count = 0;
    wanted->unloaded(wanted->context, &filled.module, time);
}

static int look(struct gait_module_observer *observer)
{
    int result = owner_lock_acquire(&observer->lock, LOCK_TIMEOUT_MS);

    if (result != 0)
        return result;
    if (observer->is_active)
        result = module_observer_notice(&observer->observer);
    owner_lock_release(&observer->lock);
    return result;
}

/* By the loader. */
static void notified(struct gait_invocation *invocation)
{
    (void)look(invocation->data);
}

/* ---- coming and going -------------------------------------------------------------------------------------------- */

static void in_child(void)
{
    for (struct gait_module_observer *observer = all; observer != NULL; observer = observer->next) {
        observer->lock = (struct owner_lock){0};
        (void)module_observer_begin_in_child(&observer->observer);
    }
    pthread_mutex_init(&all_lock, NULL);
}

static struct gait_module_observer *take_observer(void)
{
    struct gait_module_observer *observer;

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

static void give_observer_back(struct gait_module_observer *observer)
{
    pthread_mutex_lock(&all_lock);
    observer->is_taken = false;
    pthread_mutex_unlock(&all_lock);
}

static int begin(struct gait_module_observer *observer, const struct gait_module_listener *wanted)
{
    int result = owner_lock_acquire(&observer->lock, LOCK_TIMEOUT_MS);

    if (result != 0)
        return result;
    observer->wanted = *wanted;
    observer->listener = (struct module_listener){.context = &observer->wanted, .loaded = loaded, .unloaded = unloaded};
    module_observer_init(&observer->observer, &observer->listener);
    observer->is_active = true;
    owner_lock_release(&observer->lock);
    return 0;
}

static void end(struct gait_module_observer *observer)
{
    loader_watch_end(&observer->watch);
    if (owner_lock_acquire(&observer->lock, LOCK_TIMEOUT_MS) != 0)
        return;
    observer->is_active = false;
    module_observer_deinit(&observer->observer);
    owner_lock_release(&observer->lock);
    give_observer_back(observer);
}

EXPORT int gait_module_observer_look(struct gait_module_observer *observer, struct gait_error *err)
{
    int result;

    if (observer == NULL)
        return error_set(err, EINVAL, "cannot look at modules: there is no observer");
    result = look(observer);
    if (result == -EDEADLK)
        return error_set(err, result, "cannot look at modules: a listener of the same observer is being called");
    if (result != 0)
        return error_set(err, result, "cannot look at modules: %s", strerror(-result));
    return 0;
}

EXPORT int gait_module_observer_create(const struct gait_module_listener *listener,
                                       struct gait_module_observer **observer_out, bool *is_automatic_out,
                                       struct gait_error *err)
{
    struct gait_module_observer *observer;
    struct gait_module_listener wanted;
    uint64_t function;
    bool is_automatic;
    int result = options_read(&listener_type, listener, &wanted, err);

    if (result != 0)
        return result;
    observer = take_observer();
    if (observer == NULL || begin(observer, &wanted) != 0)
        return error_set(err, ENOMEM, "cannot observe modules: there is no memory");
    /* First this, so that nothing is missed. */
    is_automatic = module_observer_find(&observer->observer, &function) == 0 &&
                   loader_watch_begin(&observer->watch, function, notified, observer, NULL) == 0;
    result = gait_module_observer_look(observer, err);
    if (result != 0) {
        end(observer);
        return result;
    }
    if (is_automatic_out != NULL)
        *is_automatic_out = is_automatic;
    *observer_out = observer;
    return 0;
}

EXPORT void gait_module_observer_destroy(struct gait_module_observer *observer)
{
    if (observer != NULL)
        end(observer);
}

/* SPDX-License-Identifier: MIT */
/*
 * The observer is told of each module as soon as the loader has it, before code of it runs, and of each that is gone.
 * In the beginning all modules are looked for once more when the loader is watched already: so none is missed, and what
 * the observer tells before that is of no interest.
 */
#include "libgait/stack_modules.h"

#include "hook/hook_thread.h"
#include "hook/return_tracking.h"
#include "hosted/error_text.h"
#include "libgait/loader_watch.h"
#include "libgait/stack_thread.h"
#include "process/module_observer.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER;
static struct module_observer observer;
static struct loader_watch watch;
static bool is_watched;
static _Atomic bool is_told;

static void loaded(void *context, const struct module *module, uint64_t time)
{
    (void)context;
    (void)time;
    /* One that tells nothing of its frames is none for us; for one that is known there is nothing to do. */
    if (atomic_load_explicit(&is_told, memory_order_acquire))
        (void)!unwind_modules_add(&stack_modules, module->base);
}

static void unloaded(void *context, const struct module *module, uint64_t time)
{
    (void)context;
    (void)time;
    if (atomic_load_explicit(&is_told, memory_order_acquire))
        (void)!unwind_modules_remove(&stack_modules, module->base, module->end);
}

static void notified(struct gait_invocation *invocation)
{
    (void)module_observer_notice(invocation->data);
}

static void in_child(void)
{
    (void)module_observer_begin_in_child(&observer);
    pthread_mutex_init(&watch_lock, NULL);
}

static int begin_watch(struct gait_error *err)
{
    static const struct module_listener listener = {.loaded = loaded, .unloaded = unloaded};
    uint64_t function;
    int result;

    module_observer_init(&observer, &listener);
    if (module_observer_find(&observer, &function) != 0)
        return error_set(err, ENOENT, "cannot watch modules being loaded: there is no dynamic loader that reports it");
    result = loader_watch_begin(&watch, function, notified, &observer, err);
    if (result != 0)
        return result;
    (void)module_observer_notice(&observer);
    /* Release: whoever is told from here on finds modules that are ready. */
    atomic_store_explicit(&is_told, true, memory_order_release);
    result = stack_thread_refresh();
    if (result != 0 || pthread_atfork(NULL, NULL, in_child) != 0) {
        atomic_store_explicit(&is_told, false, memory_order_release);
        loader_watch_end(&watch);
        return error_set(err, result != 0 ? result : -ENOMEM, "cannot watch modules being loaded: %s",
                         strerror(result != 0 ? -result : ENOMEM));
    }
    return 0;
}

int stack_modules_watch(struct gait_error *err)
{
    int result = stack_thread_refresh();

    if (result != 0)
        return error_set(err, result, "cannot watch modules for stacks: %s", strerror(-result));
    pthread_mutex_lock(&watch_lock);
    if (!is_watched)
        result = begin_watch(err);
    is_watched |= result == 0;
    pthread_mutex_unlock(&watch_lock);
    return result;
}

static bool undo_hook(void *context, struct hooked_place *place)
{
    struct hook_thread *thread = hook_thread_current();

    (void)context;
    return thread != NULL && !place->is_exact &&
           return_tracking_find(thread, place->sp - sizeof(uint64_t), place->pc, &place->pc);
}

const struct hooked_frames stack_hooked_frames = {.undo = undo_hook};

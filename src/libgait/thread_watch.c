/* SPDX-License-Identifier: MIT */
/*
 * pthread_create() is given another function to begin with, ours, which calls the program's; that it ends, in whatever
 * way, a destructor of thread-specific data tells. The two functions are handed over in a struct that belongs to the
 * new thread once that begins, and to the call if it fails.
 */
#define _GNU_SOURCE
#include "libgait/thread_watch.h"

#include "base/mutex.h"
#include "base/pool.h"
#include "gait/hook.h"
#include "libgait/error.h"
#include "libgait/stay_loaded.h"
#include "process/thread_list.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>

struct start {
    void *(*function)(void *context);
    void *context;
};

static struct mutex lock;
static struct pool starts; /* under the lock */
static pthread_key_t key;
static thread_watch_function watcher; /* set before anything is hooked */
static bool is_watched;               /* under the lock */
static struct mutex begin_lock;

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static struct start *create_start(void)
{
    struct start *start;

    mutex_lock(&lock);
    start = pool_allocate(&starts);
    mutex_unlock(&lock);
    return start;
}

static void destroy_start(struct start *start)
{
    mutex_lock(&lock);
    pool_free(&starts, start);
    mutex_unlock(&lock);
}

/* The thread's own function begins here, instead of where the program said. */
static void *begin_thread(void *context)
{
    struct start start = *(struct start *)context;

    destroy_start(context);
    (void)pthread_setspecific(key, &key);
    watcher(THREAD_BEGINS, thread_current());
    return start.function(start.context);
}

static void end_thread(void *value)
{
    (void)value;
    watcher(THREAD_ENDS, thread_current());
}

/* ---- hooks ------------------------------------------------------------------------------------------------------- */

/* pthread_create(thread, attributes, function, context) */
static void enter_create(struct gait_invocation *invocation)
{
    struct start *start = create_start(), **kept = invocation->call_data;

    if (start == NULL || kept == NULL)
        return;
    start->function = (void *(*)(void *))(uintptr_t)gait_invocation_argument(invocation, 2);
    start->context = (void *)(uintptr_t)gait_invocation_argument(invocation, 3);
    gait_invocation_argument_set(invocation, 2, (uintptr_t)begin_thread);
    gait_invocation_argument_set(invocation, 3, (uintptr_t)start);
    *kept = start;
}

static void leave_create(struct gait_invocation *invocation)
{
    struct start *const *kept = invocation->call_data;

    if (kept != NULL && *kept != NULL && (int)gait_invocation_return_value(invocation) != 0)
        destroy_start(*kept);
}

/* prctl(option, ...) */
static void enter_control(struct gait_invocation *invocation)
{
    if (invocation->call_data != NULL)
        *(bool *)invocation->call_data = (int)gait_invocation_argument(invocation, 0) == PR_SET_NAME;
}

static void leave_control(struct gait_invocation *invocation)
{
    if (invocation->call_data != NULL && *(const bool *)invocation->call_data)
        watcher(THREAD_NAMED, thread_current());
}

/* pthread_setname_np(thread, name) */
static void enter_name(struct gait_invocation *invocation)
{
    if (invocation->call_data != NULL)
        *(bool *)invocation->call_data = gait_invocation_argument(invocation, 0) == (uint64_t)pthread_self();
}

static void leave_name(struct gait_invocation *invocation)
{
    bool is_own = invocation->call_data != NULL && *(const bool *)invocation->call_data;

    watcher(THREAD_NAMED, is_own ? thread_current() : 0);
}

static const struct {
    const char *name;
    gait_invocation_function enter;
    gait_invocation_function leave;
} wanted[] = {
    {"pthread_create", enter_create, leave_create},
    {"prctl", enter_control, leave_control},
    {"pthread_setname_np", enter_name, leave_name},
};

/* The function itself: what a program has as its address may be a stub of its own. */
static uint64_t find_function(const char *name)
{
    void *library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    void *function = library == NULL ? NULL : dlsym(library, name);

    return (uintptr_t)(function != NULL ? function : dlsym(RTLD_DEFAULT, name));
}

static int attach_all(struct gait_hooks *hooks, struct gait_error *err)
{
    int result = 0;

    for (size_t i = 0; result == 0 && i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        const struct gait_listener listener = {
            .size_bytes = sizeof(listener),
            .enter = wanted[i].enter,
            .leave = wanted[i].leave,
        };
        uint64_t function = find_function(wanted[i].name);

        result = function == 0 ? error_set(err, ENOENT, "cannot watch threads: there is no %s()", wanted[i].name)
                               : gait_hook_attach(hooks, function, &listener, NULL, err);
    }
    return result;
}

static int begin(struct gait_error *err)
{
    struct gait_hooks *hooks;
    int result = gait_hooks_acquire(NULL, &hooks, err);

    if (result != 0)
        return result;
    if (pool_init(&starts, sizeof(struct start)) != 0 || pthread_key_create(&key, end_thread) != 0) {
        (void)gait_hooks_release(hooks, NULL);
        return error_set(err, ENOMEM, "cannot watch threads: the C library has no more keys");
    }
    stay_loaded();
    result = gait_hooks_begin(hooks, err);
    if (result == 0)
        result = attach_all(hooks, err);
    if (result != 0)
        gait_hooks_abort(hooks);
    else
        result = gait_hooks_commit(hooks, err);
    if (result != 0) {
        pthread_key_delete(key);
        (void)gait_hooks_release(hooks, NULL);
    }
    return result;
}

int thread_watch_begin(thread_watch_function function, struct gait_error *err)
{
    int result = 0;

    mutex_lock(&begin_lock);
    watcher = function;
    if (!is_watched)
        result = begin(err);
    is_watched |= result == 0;
    mutex_unlock(&begin_lock);
    return result;
}

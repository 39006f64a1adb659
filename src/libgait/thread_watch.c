/* SPDX-License-Identifier: MIT */
/*
 * Functions of the C library are replaced by ones that call them. pthread_create() is given another function to begin
 * with, ours, which calls the program's; that it ends, in whatever way, a destructor of thread-specific data tells. The
 * program's function and its argument are handed over in a struct that belongs to the new thread once that begins, and
 * to the call if it fails.
 */
#include "libgait/thread_watch.h"

#include "base/mutex.h"
#include "base/pool.h"
#include "gait/hook.h"
#include "hosted/error_text.h"
#include "libgait/own_module.h"
#include "process/thread_list.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>

struct thread_start {
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

static struct thread_start *create_start(void)
{
    struct thread_start *start;

    mutex_lock(&lock);
    start = pool_allocate(&starts);
    mutex_unlock(&lock);
    return start;
}

static void destroy_start(struct thread_start *start)
{
    mutex_lock(&lock);
    pool_free(&starts, start);
    mutex_unlock(&lock);
}

/* The thread's own function begins here, instead of where the program said. */
static void *begin_thread(void *context)
{
    struct thread_start start = *(struct thread_start *)context;

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

/* ---- what is called instead -------------------------------------------------------------------------------------- */

typedef int create_function(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *context),
                            void *context);
typedef int control_function(int option, unsigned long first, unsigned long second, unsigned long third,
                             unsigned long fourth);
typedef int name_function(pthread_t thread, const char *name);

/* What the functions were: set before anybody calls what is there instead. */
static void *original_create, *original_control, *original_name;

static int create_instead(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *context),
                          void *context)
{
    create_function *create = (create_function *)original_create;
    struct thread_start *start = create_start();
    int result;

    if (start == NULL)
        return create(thread, attributes, function, context);
    *start = (struct thread_start){function, context};
    result = create(thread, attributes, begin_thread, start);
    if (result != 0)
        destroy_start(start);
    return result;
}

static int control_instead(int option, unsigned long first, unsigned long second, unsigned long third,
                           unsigned long fourth)
{
    int result = ((control_function *)original_control)(option, first, second, third, fourth);
    int error_number = errno;

    if (option == PR_SET_NAME)
        watcher(THREAD_NAMED, thread_current());
    errno = error_number;
    return result;
}

static int name_instead(pthread_t thread, const char *name)
{
    int result = ((name_function *)original_name)(thread, name);

    watcher(THREAD_NAMED, pthread_equal(thread, pthread_self()) ? thread_current() : 0);
    return result;
}

static const struct {
    const char *name;
    uint64_t replacement;
    void **original;
} wanted[] = {
    {"pthread_create", (uintptr_t)create_instead, &original_create},
    {"prctl", (uintptr_t)control_instead, &original_control},
    {"pthread_setname_np", (uintptr_t)name_instead, &original_name},
};

/* ---- replacing them ---------------------------------------------------------------------------------------------- */

/* The function itself: what a program has as its address may be a stub of its own. */
static uint64_t find_function(const char *name)
{
    void *library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    void *function = library == NULL ? NULL : dlsym(library, name);

    return (uintptr_t)(function != NULL ? function : dlsym(RTLD_DEFAULT, name));
}

static int replace_all(struct gait_hooks *hooks, struct gait_error *err)
{
    int result = 0;

    for (size_t i = 0; result == 0 && i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        uint64_t function = find_function(wanted[i].name);

        result = function == 0 ? error_set(err, ENOENT, "cannot watch threads: there is no %s()", wanted[i].name)
                               : gait_hook_replace(hooks, function, wanted[i].replacement, wanted[i].original, err);
    }
    return result;
}

static int begin(struct gait_error *err)
{
    struct gait_hooks *hooks;
    int result = gait_hooks_acquire(NULL, &hooks, err);

    if (result != 0)
        return result;
    if (pool_init(&starts, sizeof(struct thread_start)) != 0 || pthread_key_create(&key, end_thread) != 0) {
        (void)gait_hooks_release(hooks, NULL);
        return error_set(err, ENOMEM, "cannot watch threads: the C library has no more keys");
    }
    own_module_stay_loaded();
    result = gait_hooks_begin(hooks, err);
    if (result == 0)
        result = replace_all(hooks, err);
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

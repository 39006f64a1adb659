/* SPDX-License-Identifier: MIT */
/*
 * The hooks are acquired with the first watch and kept for good: nobody knows when no thread is in the middle of the
 * loader. A watch that ends is only detached.
 */
#include "libgait/loader_watch.h"

#include "base/mutex.h"
#include "gait/hook.h"
#include "libgait/own_module.h"

static struct mutex lock;
static struct gait_hooks *hooks; /* under the lock; once they are there, they stay */

static int acquire_hooks(struct gait_hooks **hooks_out, struct gait_error *err)
{
    int result = 0;

    mutex_lock(&lock);
    if (hooks == NULL)
        result = gait_hooks_acquire(NULL, &hooks, err);
    *hooks_out = hooks;
    mutex_unlock(&lock);
    return result;
}

int loader_watch_begin(struct loader_watch *watch, uint64_t function, gait_invocation_function called, void *data,
                       struct gait_error *err)
{
    const struct gait_listener listener = {
        .size_bytes = sizeof(listener),
        .enter = called,
        .data = data,
    };
    int result = acquire_hooks(&watch->hooks, err);

    watch->hook = NULL;
    if (result == 0) {
        /* The loader calls us from now on. */
        own_module_stay_loaded();
        result = gait_hook_attach(watch->hooks, function, &listener, &watch->hook, err);
    }
    return result;
}

void loader_watch_end(struct loader_watch *watch)
{
    if (watch->hook != NULL)
        (void)gait_hook_detach(watch->hooks, watch->hook, NULL);
    watch->hook = NULL;
}

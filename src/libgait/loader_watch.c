/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "libgait/loader_watch.h"

#include "gait/hook.h"

#include <dlfcn.h>

/* The loader calls code of this library from now on: who unloads it would have it call into nothing. */
static void stay_loaded(void)
{
    Dl_info info;

    if (dladdr((const void *)&loader_watch_end, &info) != 0 && info.dli_fname != NULL)
        (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

int loader_watch_begin(struct loader_watch *watch, uint64_t function, gait_invocation_function called, void *data,
                       struct gait_error *err)
{
    /* Called all the time by nobody, so a trap would do; but the function has room for more, in all loaders. */
    const struct gait_listener listener = {
        .size_bytes = sizeof(listener),
        .enter = called,
        .data = data,
    };
    int result = gait_hooks_acquire(NULL, &watch->hooks, err);

    stay_loaded();
    if (result == 0)
        result = gait_hook_attach(watch->hooks, function, &listener, &watch->hook, err);
    else
        watch->hooks = NULL;
    if (result != 0)
        loader_watch_end(watch);
    return result;
}

void loader_watch_end(struct loader_watch *watch)
{
    if (watch->hooks == NULL)
        return;
    if (watch->hook != NULL)
        (void)gait_hook_detach(watch->hooks, watch->hook, NULL);
    /* If it cannot be given back now, it stays. */
    (void)gait_hooks_release(watch->hooks, NULL);
    watch->hooks = NULL;
    watch->hook = NULL;
}

/* SPDX-License-Identifier: MIT */
/*
 * Being called each time that the dynamic loader says to debuggers that its list of modules changes. Any thread; not in
 * signal handlers.
 */
#ifndef GAIT_LIBGAIT_LOADER_WATCH_H
#define GAIT_LIBGAIT_LOADER_WATCH_H

#include "base/attributes.h"
#include "gait/error.h"
#include "gait/hook_invocation.h"

#include <stdint.h>

struct gait_hook;
struct gait_hooks;

struct loader_watch {
    struct gait_hooks *hooks;
    struct gait_hook *hook; /* NULL: nothing is watched */
};

/*
 * Hooks the loader's function. `called` runs on the thread that loads or unloads, in the middle of the loader; it may
 * still be running on another thread when loader_watch_end returns, so it and what it uses stay for good. Errors as
 * gait_hook_attach.
 */
MUST_USE int loader_watch_begin(struct loader_watch *watch, uint64_t function, gait_invocation_function called,
                                void *data, struct gait_error *err);
void loader_watch_end(struct loader_watch *watch);

#endif

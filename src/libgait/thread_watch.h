/* SPDX-License-Identifier: MIT */
/*
 * Being told when threads of the C library begin, end and get other names, as it happens: what makes and names them is
 * replaced. Threads that are made in other ways (by clone() itself) are not seen. Any thread; not in signal handlers.
 */
#ifndef GAIT_LIBGAIT_THREAD_WATCH_H
#define GAIT_LIBGAIT_THREAD_WATCH_H

#include "base/attributes.h"
#include "gait/error.h"

enum thread_watch_event {
    THREAD_BEGINS, /* on the thread, before its own function runs */
    THREAD_ENDS,   /* on the thread, when its own function is over */
    THREAD_NAMED,  /* on the thread that named it; tid 0: one of them was, nobody knows which */
};

/* There is one, for good; it is told of all threads from then on. */
typedef void (*thread_watch_function)(enum thread_watch_event event, int tid);

/* Replaces what has to be, once for all. Errors as gait_hook_replace; -ENOENT: the C library has no such functions. */
MUST_USE int thread_watch_begin(thread_watch_function function, struct gait_error *err);

#endif

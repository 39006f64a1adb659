/* SPDX-License-Identifier: MIT */
#include "stalker/signal_watch.h"

#include <stdatomic.h>
#include <stddef.h>

static const struct signal_watcher *_Atomic watcher_now;

void signal_watch_set(const struct signal_watcher *watcher)
{
    /* Release: pairs with the acquire in watcher_of_process. */
    atomic_store_explicit(&watcher_now, watcher, memory_order_release);
}

static const struct signal_watcher *watcher_of_process(void)
{
    return atomic_load_explicit(&watcher_now, memory_order_acquire);
}

bool signal_watch_is_deadly(int signal)
{
    const struct signal_watcher *watcher = watcher_of_process();

    return watcher != NULL && watcher->deadly >> (signal - 1) & 1;
}

void signal_watch_delivered(int signal)
{
    const struct signal_watcher *watcher = watcher_of_process();

    if (watcher != NULL && watcher->delivered != NULL)
        watcher->delivered(signal);
}

void signal_watch_dying(const struct signal_death *death)
{
    const struct signal_watcher *watcher = watcher_of_process();

    if (watcher != NULL && watcher->dying != NULL)
        watcher->dying(death);
}

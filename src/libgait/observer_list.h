/* SPDX-License-Identifier: MIT */
/*
 * What observers of the process's modules and of its threads have in common. Hooks may be calling an observer while it
 * is destroyed, so none is ever freed, but used again; each has a lock, around what the core's observer does. A child
 * that is forked has the observers of its parent. Callable from any thread.
 */
#ifndef GAIT_LIBGAIT_OBSERVER_LIST_H
#define GAIT_LIBGAIT_OBSERVER_LIST_H

#include "base/attributes.h"
#include "gait/error.h"
#include "process/owner_lock.h"

#include <stdbool.h>
#include <stddef.h>

/* What each observer begins with; all zero at first. */
struct observer_entry {
    struct owner_lock lock;
    bool is_active;              /* under the lock */
    bool is_taken;               /* under the lock of all lists */
    struct observer_entry *next; /* never changes */
};

/* A kind of observers. The functions are called with the entry's lock held, but for that of children. */
struct observer_list {
    const char *what;   /* is observed, for errors */
    const char *source; /* where that is read, for errors, with ": "; "": nowhere */
    size_t entry_bytes;
    void (*begin)(struct observer_entry *entry, const void *listener);
    void (*end)(struct observer_entry *entry);
    void (*begin_in_child)(struct observer_entry *entry);
    struct observer_entry *_Atomic first;
    struct observer_list *next; /* of those that were used */
    bool is_known;
};

/* An active observer for a listener. -ENOMEM. */
MUST_USE int observer_list_take(struct observer_list *list, const void *listener, struct observer_entry **entry_out,
                                struct gait_error *err);

/* Waits for who is using it. */
void observer_list_give_back(struct observer_list *list, struct observer_entry *entry);

/* Calls a function for the observer with its lock held, if it is active. -EDEADLK: a listener of it is being called. */
MUST_USE int observer_entry_use(struct observer_entry *entry, int (*use)(struct observer_entry *entry, int argument),
                                int argument);

/* The same, with errors explained as those of looking at what is observed. -EINVAL: there is no observer. */
MUST_USE int observer_list_look(const struct observer_list *list, struct observer_entry *entry,
                                int (*use)(struct observer_entry *entry, int argument), int argument,
                                struct gait_error *err);

#endif

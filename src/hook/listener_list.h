/* SPDX-License-Identifier: MIT */
/*
 * Lists of listeners, made anew for each change and never changed once they are published: threads that go through one
 * need no lock. A list that was replaced is freed when nobody can be in it any more. One thread at a time: the caller
 * has the lock. No libc; usable inside the target.
 */
#ifndef GAIT_HOOK_LISTENER_LIST_H
#define GAIT_HOOK_LISTENER_LIST_H

#include "base/attributes.h"
#include "base/list.h"
#include "base/pool.h"
#include "hook/hook_stub.h"

/* Lists for 1, 2, 4... listeners are pooled, longer ones have pages of their own. */
#define LISTENER_LIST_SIZES 5

struct listener_lists {
    struct pool pools[LISTENER_LIST_SIZES];
    struct list_node retired;
};

void listener_lists_init(struct listener_lists *lists);
void listener_lists_deinit(struct listener_lists *lists);

/*
 * A copy of `from` (NULL: an empty one) with a listener more, to which a place and a serial of its own are given. NULL:
 * no memory. last_serial is the highest that any list of the function has given.
 */
MUST_USE const struct hook_listeners *listener_list_with(struct listener_lists *lists,
                                                         const struct hook_listeners *from,
                                                         const struct hook_listener *listener, uint32_t last_serial);

/* A copy without the listener of that serial, in *list_out; NULL if it was the last one. -ENOMEM; -ENOENT. */
MUST_USE int listener_list_without(struct listener_lists *lists, const struct hook_listeners *from, uint32_t serial,
                                   const struct hook_listeners **list_out);

/* Of a list that was never published. NULL is fine. */
void listener_list_free(struct listener_lists *lists, const struct hook_listeners *list);

/* Of a list in the place of which another one is published by now. NULL is fine. */
void listener_list_retire(struct listener_lists *lists, const struct hook_listeners *list);

/* Frees retired lists that nobody is in. Not from a listener, whose list may be one of them. */
void listener_lists_collect(struct listener_lists *lists);

/* Whether one of the listeners wants to know of returns. NULL: none does. */
bool listener_list_wants_leave(const struct hook_listeners *list);

#endif

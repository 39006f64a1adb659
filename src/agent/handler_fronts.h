/* SPDX-License-Identifier: MIT */
/*
 * What the program's signal handlers see of hooks: nothing. While functions are hooked, the kernel has a stub of ours
 * instead of each handler, which shows the handler the place in the program where the thread is (interrupted_place.h),
 * calls it, and sends the thread back to where it was, unless the handler has chosen another place. Whoever asks, by a
 * function of the C library, what the handlers are is told the program's own. Nothing is done on the way to or from
 * hooked functions for that.
 *
 * Handlers that the program sets without the C library see places in stubs as they are; and where there is no function
 * of it that could tell them their own, all do.
 */
#ifndef GAIT_AGENT_HANDLER_FRONTS_H
#define GAIT_AGENT_HANDLER_FRONTS_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

/* Before modules are looked at. */
void handler_fronts_prepare(void);

/*
 * A module has a function that sets actions, by which they can be hidden; or one that asks the kernel itself (Go), and
 * would keep a front's address for longer than it is there: then there are none.
 */
void handler_fronts_note_setter(void);
void handler_fronts_note_asker(void);

/* Puts fronts before all handlers that there are, and those that come. All other threads stand still. */
void handler_fronts_begin(void);

/* The same for default actions that write a core, once it is known whether actions can be hidden. */
void handler_fronts_cover_defaults(void);

/*
 * Whether handlers that a thread is in, with that stack pointer, can do without their fronts: what they were shown is
 * where the thread can go on. All stand still.
 */
bool handler_fronts_can_leave(int tid, uint64_t sp);

/* Takes all of them away. All stand still. */
void handler_fronts_leave(void);

/* Whoever changes the set of hooks while the program runs holds this: it is looked up when signals come. */
MUST_USE int handler_fronts_lock(void);
void handler_fronts_unlock(void);

/* A call that sets an action, from its beginning to its end; all zero: none. */
struct handler_setting {
    uint64_t handler; /* that is set; 0: none */
    uint64_t old;     /* where the action that was is told; 0: nowhere */
    int64_t signal;
};

/* Before and after such a call, with its arguments; the structs of the kernel and of C libraries begin alike. */
void handler_setting_begins(struct handler_setting *setting, int signal, uint64_t action, uint64_t old);
void handler_setting_ends(const struct handler_setting *setting);

/* Last of all, also if it failed. */
void handler_setting_is_over(const struct handler_setting *setting);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Telling somebody of signals: of those that the program's handlers get, and of those that end the process. For the
 * latter our handler stands where the program has none; the program is not shown that, and the process ends as it would
 * have: by that signal, with its registers and what the kernel said of it.
 *
 * One for the process. The functions are called in a signal handler, on a stack of ours, with all signals blocked or
 * about to be; they may take no lock.
 */
#ifndef GAIT_STALKER_SIGNAL_WATCH_H
#define GAIT_STALKER_SIGNAL_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct gait_cpu_context;

/* A signal that nothing can stop. */
struct signal_death {
    int signal;
    int code;
    uint64_t address;                   /* of a fault */
    const struct gait_cpu_context *cpu; /* the program's registers, or those of a thread that is not followed */
    bool is_known;                      /* false: the thread was in our code, and these are the registers there */
};

struct signal_watcher {
    uint64_t deadly; /* bit n - 1: signal n ends the process where the program has no handler */
    void (*delivered)(int signal);
    void (*dying)(const struct signal_death *death);
};

/* From now on, for threads that begin to be followed; NULL: nobody. Must live until no signal can come to us. */
void signal_watch_set(const struct signal_watcher *watcher);

/* Whether our handler stands in for the default action of a signal. Signal-safe. */
bool signal_watch_is_deadly(int signal);

void signal_watch_delivered(int signal);
void signal_watch_dying(const struct signal_death *death);

#endif

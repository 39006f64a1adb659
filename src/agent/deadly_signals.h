/* SPDX-License-Identifier: MIT */
/*
 * What a core of a hooked program holds: the program's own pc, return addresses and code. Signals whose default action
 * writes one come to us first, where the program leaves them at that; the thread is put where it would be without
 * hooks, stacks of all threads and the code get back what was there, and the signal is sent again, to the default
 * action. Whoever asks for actions by a function of the C library does not see it.
 *
 * Not those that no handler can be run for: a stack that is full, and a fault while the signal is blocked.
 */
#ifndef GAIT_AGENT_DEADLY_SIGNALS_H
#define GAIT_AGENT_DEADLY_SIGNALS_H

#include "agent/interrupted_place.h"
#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

/* Who knows the hooks. Called by the thread that the signal ends, with signals blocked. */
struct deadly_signals_helper {
    /* The place in the program of one in code of hooks. False: it is none, or nobody can say. */
    bool (*find_place)(struct interrupted_place from, struct interrupted_place *found_out);
    /* Gives code back what was there, if that can be done at once. Other threads run on. */
    void (*restore_code)(void);
};

/* Before the others; and in a child that was forked. */
void deadly_signals_begin(const struct deadly_signals_helper *helper);
void deadly_signals_begin_in_child(void);

/* Takes the signal over, if it is one of them and its action is the default. */
void deadly_signals_cover(int signal);

/* Gives it back. */
void deadly_signals_uncover(int signal);

#endif

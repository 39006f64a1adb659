/* SPDX-License-Identifier: MIT */
/*
 * Which times of a trace are guesses. Events of followed threads have none of their own unless that was asked for: they
 * lie somewhere between marks. A guess is shown as one, and is compared with nothing. Stateless; any thread.
 */
#ifndef GAIT_VIEW_GUESSED_TIMES_H
#define GAIT_VIEW_GUESSED_TIMES_H

#include "view/view_trace.h"

enum guessed_times {
    GUESSED_TIMES_NONE,
    GUESSED_TIMES_SOME, /* others were measured: by hooks, by captured calls, by system calls */
    GUESSED_TIMES_ALL,
};

/* Whether those of the events of that thread are. */
bool guessed_times_of_thread(const struct view_trace *trace, size_t thread);

/* Of all that a view of these threads shows. */
enum guessed_times guessed_times_of_threads(const struct view_trace *trace, const size_t *threads, size_t count);

/* Of all threads of the trace. */
enum guessed_times guessed_times_of_trace(const struct view_trace *trace);

#endif

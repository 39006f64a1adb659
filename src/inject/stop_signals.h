/* SPDX-License-Identifier: MIT */
/*
 * Signals that end the watching of other processes. Those that are typed at the terminal are apart: they come to all
 * processes of the terminal, and a program that has it may go on. One set for this process; the looking is for any
 * thread.
 */
#ifndef GAIT_INJECT_STOP_SIGNALS_H
#define GAIT_INJECT_STOP_SIGNALS_H

#include <stdbool.h>

/* Takes SIGTERM, SIGHUP, SIGINT and SIGQUIT from now on; what has come before is kept. System calls are interrupted. */
void stop_signals_take(void);

/* Nothing has come: for the next watch of this process. */
void stop_signals_forget(void);

/* SIGTERM or SIGHUP has come. */
bool stop_signals_were_sent(void);

/* SIGINT or SIGQUIT, as by Ctrl-C and Ctrl-\, has come since it was last forgotten. */
bool stop_signals_were_typed(void);
void stop_signals_forget_typed(void);

#endif

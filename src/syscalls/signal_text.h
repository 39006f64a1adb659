/* SPDX-License-Identifier: MIT */
/* Signals, sets of them, and what is said with them, as texts. Stateless; callable from any thread. */
#ifndef GAIT_SYSCALLS_SIGNAL_TEXT_H
#define GAIT_SYSCALLS_SIGNAL_TEXT_H

#include "syscalls/call_text.h"

/* SIGTERM, SIGRT_3, or a number. */
void signal_text_put(struct text_writer *out, int64_t signal);

/* The signal of that name, with or without SIG, or of that number; 0: there is none. */
int signal_by_name(const char *name);

/* [INT CHLD], or what is missing of all: ~[RTMIN RT_1]. */
void signal_text_put_set(struct text_writer *out, uint64_t set);

/* Structs as the kernel lays them out. */
void signal_text_put_action(const struct call_text *text, const void *action);
void signal_text_put_info(struct text_writer *out, const void *siginfo);
void signal_text_put_stack(const struct call_text *text, const void *stack);
void signal_text_put_event(const struct call_text *text, const void *sigevent);

#endif

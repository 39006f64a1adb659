/* SPDX-License-Identifier: MIT */
/* One argument of a system call, by its kind. Stateless; callable from any thread. */
#ifndef GAIT_SYSCALLS_ARGUMENT_TEXT_H
#define GAIT_SYSCALLS_ARGUMENT_TEXT_H

#include "syscalls/call_text.h"

/* Whether the argument is an answer: known only when the call is over. */
bool argument_text_is_answer(const struct call_text *text, const struct system_call_argument *argument);

/* Writes argument `which`. */
void argument_text_put(const struct call_text *text, const struct system_call_argument *argument, unsigned which);

/* Writes what the call has changed of an argument that was written when it began. */
void argument_text_put_change(const struct call_text *text, const struct system_call_argument *argument,
                              unsigned which);

#endif

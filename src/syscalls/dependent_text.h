/* SPDX-License-Identifier: MIT */
/*
 * Arguments whose meaning depends on what was asked for: futex, fcntl, prctl, mmap, ptrace, seccomp and the like.
 * Stateless; callable from any thread.
 */
#ifndef GAIT_SYSCALLS_DEPENDENT_TEXT_H
#define GAIT_SYSCALLS_DEPENDENT_TEXT_H

#include "syscalls/call_text.h"

/* Whether this argument, and all behind it, are not there for what was asked for. */
bool dependent_text_is_absent(const struct call_text *text, enum system_call_kind kind, unsigned which);

/* Whether this argument is passed over, though others come behind it. */
bool dependent_text_is_skipped(const struct call_text *text, enum system_call_kind kind);

/* Whether it is an answer, so that it is told only when the call is over. */
bool dependent_text_is_answer(const struct call_text *text, enum system_call_kind kind);

/* Writes the argument. False: its kind is none of those. */
bool dependent_text_put(const struct call_text *text, const struct system_call_argument *argument, unsigned which);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Where a thread of another process is, that we have stopped by ptrace, or where it was when the agent recorded it: its
 * frames with names, by debug information. One thread at a time: that which traces.
 */
#ifndef GAIT_SYSCALLS_SYSTEM_CALL_STACK_H
#define GAIT_SYSCALLS_SYSTEM_CALL_STACK_H

#include <stdbool.h>
#include <stdio.h>

struct system_call_event;

/* Whether there is what it takes: libdw. */
bool system_call_stack_is_there(void);

/* Writes a line for each frame, as strace -k: " > /lib/libc.so.6(write+0x13) [0xf73c3]". */
void system_call_stack_put(FILE *stream, const struct system_call_event *event);

/* Forgets what was found out of files. */
void system_call_stack_forget(void);

#endif

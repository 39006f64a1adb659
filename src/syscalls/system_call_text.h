/* SPDX-License-Identifier: MIT */
/*
 * A system call as people know it from strace: what is known when it begins, and the rest when it has ended. The same
 * for calls that are seen live and for those that were recorded: memory is looked at through the event. Nothing that a
 * program passes is trusted. One thread at a time for one struct.
 */
#ifndef GAIT_SYSCALLS_SYSTEM_CALL_TEXT_H
#define GAIT_SYSCALLS_SYSTEM_CALL_TEXT_H

#include "base/text_format.h"
#include "syscalls/call_text.h"
#include "syscalls/system_call_event.h"

/* How far the text of a thread's call is. Zeroed by its owner before the first call of a thread. */
struct system_call_progress {
    unsigned next;           /* argument */
    uint32_t entered_length; /* of what a pointer leads to */
    uint64_t sp;
    uint64_t previous; /* number of the call before, to say which one goes on */
};

/* Writes "read(3, " : up to the first argument that is an answer. */
void system_call_text_enter(struct text_writer *out, const struct system_call_event *event,
                            const struct call_text_options *options, struct system_call_progress *progress);

/* Writes the rest of it: "\"abc\", 10)". */
void system_call_text_leave(struct text_writer *out, const struct system_call_event *event,
                            const struct call_text_options *options, struct system_call_progress *progress);

/* Writes what it returned, without an equals sign. */
void system_call_text_result(struct text_writer *out, const struct system_call_event *event,
                             const struct call_text_options *options);

/* "read", or "syscall_0x1f4". */
void system_call_text_name(struct text_writer *out, uint64_t number);

/* The same in a row: "read(3, "abc", 10) = 3". */
void system_call_text_put(struct text_writer *out, const struct system_call_event *event,
                          const struct call_text_options *options);

#endif

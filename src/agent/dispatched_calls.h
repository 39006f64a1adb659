/* SPDX-License-Identifier: MIT */
/*
 * Threads of a hooked program that have their system calls dispatched to themselves (process/call_dispatch.h). The
 * kernel does it, as the program asks for; but it would hold back our calls, too, and judges calls of stubs by where
 * the stub is. So what it is asked for is changed: our image is the range whose calls pass, where the program has none;
 * where it has one, our calls are made by an instruction in there. Calls of stubs that pass by their place in the
 * program are made while the thread is not dispatched.
 *
 * What cannot be had so, the kernel is made to refuse, as one that does not know of it; that is counted. From any
 * thread, about itself.
 */
#ifndef GAIT_AGENT_DISPATCHED_CALLS_H
#define GAIT_AGENT_DISPATCHED_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* Once for a session: where the agent is, and whether system calls of the program are made in stubs. */
void dispatched_calls_begin(uint64_t image_start, uint64_t image_bytes, bool has_stubs);

/* What the thread has asked for, with our part undone. False: nothing. All threads stand still. */
struct call_dispatch;
bool dispatched_calls_asked(uint32_t tid, struct call_dispatch *asked_out);

/* In a child, which has none of it. */
void dispatched_calls_begin_in_child(void);

/*
 * A call is about to be made: if it sets dispatch, its arguments are changed as needed, and its end is to be told, with
 * the result. False: it does not.
 */
bool dispatched_calls_setting_begins(uint32_t tid, long number, long arguments[6]);
void dispatched_calls_setting_ends(uint32_t tid, long result);

/* Whether a thread of the process has asked for it, ever. */
bool dispatched_calls_are_used(void);

enum dispatched_call {
    DISPATCHED_CALL_PASSES,
    DISPATCHED_CALL_IS_HELD,  /* the kernel does not make it */
    DISPATCHED_CALL_IS_APART, /* it passes, but not in a stub */
};

/* What becomes of a call of a stub, which stands for one at `pc` that returns to `next`. */
enum dispatched_call dispatched_calls_ask(uint32_t tid, uint64_t pc, uint64_t next);

/*
 * Whether a handler of the thread returns into the range whose calls pass, by code that the kernel would hold back,
 * since our image is the range that it knows: then it has to return by a call of ours.
 */
bool dispatched_calls_hold_return(uint32_t tid, uint64_t address);

/* The thread is not dispatched until it is again. False: it was not before, or is again now. */
bool dispatched_calls_pause(uint32_t tid);
bool dispatched_calls_resume(uint32_t tid);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The stack that signal handlers run on. For threads that are followed the kernel is given one of ours: so that what it
 * writes there never meets the program's stacks, of which it cannot know where the program is on them while the thread
 * is in the engine. What the program asks for is kept here, and handled as the kernel would.
 */
#ifndef GAIT_STALKER_SIGNAL_STACK_H
#define GAIT_STALKER_SIGNAL_STACK_H

#include <stdbool.h>
#include <stdint.h>

struct stalker_thread;
struct system_call;

/* As the kernel has it. */
struct signal_stack {
    uint64_t start;
    int32_t flags;
    uint32_t padding;
    uint64_t size_bytes;
};

/* How much of the engine's stack, at its lower end, is ours for signals. */
#define SIGNAL_STACK_BYTES (64u << 10)

/* Begins to use ours on the calling thread, which is on the engine's stack. */
void signal_stack_begin(struct stalker_thread *thread);

/* The one that the kernel has while the thread is followed. */
struct signal_stack signal_stack_ours(const struct stalker_thread *thread);

/* Whether a stack pointer is on it. */
bool signal_stack_holds(const struct signal_stack *stack, uint64_t sp);

/* Whether handlers that ask for it get on it, if the stack pointer is there. */
bool signal_stack_is_free(const struct signal_stack *stack, uint64_t sp);

/* A handler is entered: a stack that is to be disarmed by that is. */
void signal_stack_enter(struct signal_stack *stack);

/* A handler, which ran with `saved`, returns to where the stack pointer is. */
void signal_stack_return(struct signal_stack *stack, const struct signal_stack *saved, uint64_t sp);

/* Makes the program's sigaltstack for it. */
long signal_stack_call(struct stalker_thread *thread, const struct system_call *call);

/*
 * Makes a system call for the program by which the kernel may let it use more state, which frames of signals have then:
 * it refuses that to a process one of whose stacks for signals is too small, and it knows only ours.
 */
long signal_stack_state_call(struct stalker_thread *thread, const struct system_call *call);

#endif

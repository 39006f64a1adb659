/* SPDX-License-Identifier: MIT */
/*
 * What the kernel writes for a signal handler, by struct engine_frame, and how a thread goes on from there, which is in
 * arch/<cpu>/host. A frame is known by its ucontext. No locks; signal-safe.
 */
#ifndef GAIT_STALKER_SIGNAL_FRAME_H
#define GAIT_STALKER_SIGNAL_FRAME_H

#include "arch/engine.h"

#include <stddef.h>
#include <stdint.h>

struct gait_cpu_context;
struct signal_stack;
struct stalker_thread;

/* A frame to be written for the program. */
struct signal_copy {
    void *ucontext; /* copied from these */
    const void *info;
    uint64_t restorer; /* where the handler returns to */
    uint64_t start;    /* of the frame, and the handler's stack pointer */
    size_t size_bytes;
};

/* Between the registers in a frame and a context. */
static inline void signal_frame_get(const void *ucontext, struct gait_cpu_context *cpu_out)
{
    engine_host()->frame->get(ucontext, cpu_out);
}

static inline void signal_frame_set(void *ucontext, const struct gait_cpu_context *cpu)
{
    engine_host()->frame->set(ucontext, cpu);
}

static inline uint64_t *signal_frame_mask(void *ucontext)
{
    return (uint64_t *)(void *)((uint8_t *)ucontext + engine_host()->frame->mask_at);
}

static inline struct signal_stack *signal_frame_stack(void *ucontext)
{
    return (struct signal_stack *)(void *)((uint8_t *)ucontext + engine_host()->frame->stack_at);
}

/* Where the parts of a frame that begins at an address are. */
static inline uint64_t signal_frame_info_at(uint64_t start)
{
    return start + engine_host()->frame->info_at;
}

static inline uint64_t signal_frame_ucontext_at(uint64_t start)
{
    return start + engine_host()->frame->ucontext_at;
}

#define SIGNAL_INFO_ADDRESS_AT 16

/* Changes the address in a siginfo, if it has that one. */
static inline void signal_info_move(void *info, uint64_t from, uint64_t to)
{
    uint64_t *address = (uint64_t *)(void *)((uint8_t *)info + SIGNAL_INFO_ADDRESS_AT);

    if (*address == from)
        *address = to;
}

/*
 * Restores mask and vector state from the program's frame, by way of a copy that returns to stalker_gate_begin with all
 * signals blocked. Does not return.
 */
_Noreturn void signal_frame_return(const struct stalker_thread *thread, const void *ucontext);

/*
 * Leaves the engine for good: gives the thread its registers, vectors, segment base, alternate stack and mask back, all
 * but the base in one step. On the engine's stack, with all signals blocked. Does not return.
 */
_Noreturn void signal_frame_leave(struct stalker_thread *thread);

/* Where a thread is in the gates. */
enum gate_place {
    GATE_UNKNOWN,
    GATE_PROGRAM, /* the program's state was found */
    GATE_CACHE,   /* the state that it goes on with in the cache was found */
};

/* Looks whether a thread with those registers is at a place in the gates where its state is known, and finds it. */
enum gate_place stalker_gate_recover(struct stalker_thread *thread, struct gait_cpu_context *cpu);

/* The handler that the kernel knows, and where handlers return to if the program does not say. */
void stalker_signal_entry(void);
void stalker_signal_restorer(void);

/*
 * Restores the registers of a frame on the calling thread; flags that the kernel does not take from a frame become
 * those given. By the instruction at an address of the program's, if that is not 0. Does not return.
 */
_Noreturn void stalker_signal_return(void *ucontext, uint64_t flags, uint64_t place);

/* Where its system call returns to otherwise. */
extern const char own_call_signal_return[] __attribute__((visibility("hidden")));

/* How our handler goes on: by returning from the frame `sp`, or at `target` with these arguments. */
struct signal_outcome {
    uint64_t sp;
    uint64_t target; /* 0: return */
    uint64_t signal;
    uint64_t info;
    uint64_t ucontext;
};

/* Called by stalker_signal_entry with its arguments, on the stack where the kernel put the frame. */
void stalker_signal_arrived(struct signal_outcome *outcome);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What the kernel writes for a signal handler, and what virtualizing signals needs of the CPU beyond its engine.h:
 * implemented once for each CPU in arch/<cpu>/host. A frame is known by its ucontext. No locks; signal-safe.
 */
#ifndef GAIT_STALKER_SIGNAL_FRAME_H
#define GAIT_STALKER_SIGNAL_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gait_cpu_context;
struct signal_stack;
struct stalker_thread;

/* Between the registers in a frame and a context. */
void signal_frame_get(const void *ucontext, struct gait_cpu_context *cpu_out);
void signal_frame_set(void *ucontext, const struct gait_cpu_context *cpu);

/* Whether the thread goes on step by step, with a trap behind each instruction. */
bool signal_frame_steps(const struct gait_cpu_context *cpu);

/* No more. */
void signal_frame_end_steps(struct gait_cpu_context *cpu);

/* Whether the CPU makes one step of the instruction at `from` and the one behind it, and cpu is between them. */
bool signal_frame_is_between(const struct gait_cpu_context *cpu, uint64_t from);

uint64_t *signal_frame_mask(void *ucontext);
struct signal_stack *signal_frame_stack(void *ucontext);

/* A frame to be written for the program. */
struct signal_copy {
    void *ucontext; /* copied from these */
    const void *info;
    uint64_t restorer; /* where the handler returns to */
    uint64_t start;    /* of the frame, and the handler's stack pointer */
    size_t size_bytes;
};

/* Where the parts of a frame that begins at an address are. */
uint64_t signal_frame_info_at(uint64_t start);
uint64_t signal_frame_ucontext_at(uint64_t start);

/* Sets where the copy goes if it is put below an address. */
void signal_frame_place(struct signal_copy *copy, uint64_t below);

/* How many bytes below its stack pointer a program may use. */
uint64_t signal_frame_kept_bytes(void);

/* Writes it there. */
void signal_frame_write(const struct signal_copy *copy);

/* The registers that a handler begins with, when those before the signal are in `cpu`. */
void signal_frame_enter(const struct signal_copy *copy, int signal, uint64_t handler, struct gait_cpu_context *cpu);

/* Changes the address in a siginfo, if it has that one. */
void signal_info_move(void *info, uint64_t from, uint64_t to);

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
 * those given. Does not return.
 */
_Noreturn void stalker_signal_return(void *ucontext, uint64_t flags);

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

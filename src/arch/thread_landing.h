/* SPDX-License-Identifier: MIT */
/*
 * A place for a thread to land that was taken away from what it was doing: a routine that calls one function on a stack
 * of ours and then takes the thread back, exactly as it was. Implemented once for each CPU in arch/<cpu>/host. No libc,
 * no locks, no state; usable inside the target, from any thread.
 *
 * All signals are held back while the function runs. Of the program's stack some 300 bytes are used, behind what is its
 * own: signals must never find the thread on a stack that the system does not know of, or they would be handled on top
 * of a handler that may be running on an alternate one.
 */
#ifndef GAIT_ARCH_THREAD_LANDING_H
#define GAIT_ARCH_THREAD_LANDING_H

#include "arch/thread_registers.h"
#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the thread does there, with the registers with which it will go on. */
typedef void (*thread_function)(void *context, const struct thread_registers *registers);

/* Filled by thread_landing_prepare, but for `done`. The routine knows these offsets. */
struct thread_landing {
    struct thread_registers registers; /* as they are to be afterwards */
    thread_function function;
    void *context;
    void *stack_end;    /* a multiple of 64 */
    void *vector_state; /* thread_landing_vector_bytes(), zeroes, at a multiple of 64 */
    uint64_t signal_mask;
    uint32_t vector_format;
    _Atomic uint32_t
        done;         /* 1, and a futex wake: the function has returned and the routine no longer needs this struct */
    uint32_t is_held; /* signals are held back already, and signal_mask is what they are to be afterwards */
};

_Static_assert(offsetof(struct thread_landing, function) == 272, "known to the routine");
_Static_assert(offsetof(struct thread_landing, done) == 316, "known to the routine");
_Static_assert(offsetof(struct thread_landing, is_held) == 320, "known to the routine");

/* How much memory the CPU's vector and floating-point state takes. */
size_t thread_landing_vector_bytes(void);

/*
 * Makes a stopped thread with these registers land: function, context, stack_end, vector_state and done are set. A
 * system call that it waits in is begun again afterwards (thread_registers_take_restart). -EOPNOTSUPP: not known for
 * this CPU yet.
 */
MUST_USE int thread_landing_prepare(struct thread_landing *landing, struct thread_registers *registers);

/*
 * The same for a thread of another process, where the struct and the routine have other addresses. The struct is
 * written there by the caller.
 */
MUST_USE int thread_landing_prepare_at(struct thread_landing *landing, struct thread_registers *registers,
                                       uint64_t landing_address, uint64_t routine_address);

/* The name of the routine, where an image that has it is loaded. */
#define THREAD_LANDING_ROUTINE "thread_landing_routine"

/*
 * The calling thread, which holds all signals back, leaves a stack of ours for registers, signal_mask and done of the
 * struct, which may be on that stack. In the CPU's host folder, x86_64 only.
 */
_Noreturn void thread_landing_leave(struct thread_landing *landing);

/* Whether a stopped thread is in the routine, before the function or behind it: its registers are not the program's. */
bool thread_landing_holds(const struct thread_registers *registers);

#endif

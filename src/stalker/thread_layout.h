/* SPDX-License-Identifier: MIT */
/*
 * Where translated code and the gates find a followed thread's state: offsets into struct stalker_thread, which the
 * thread base points to: a register of the CPU's choice, of which the program's value is kept. For C and assembly;
 * stalker/thread.h asserts that the struct agrees.
 */
#ifndef GAIT_STALKER_THREAD_LAYOUT_H
#define GAIT_STALKER_THREAD_LAYOUT_H

#include "arch/context_layout.h"

#define THREAD_SELF                  0  /* the struct's own address */
#define THREAD_ENGINE_SP             8  /* where the engine's stack begins */
#define THREAD_RESUME                16 /* where the thread goes on when the engine is left */
#define THREAD_TARGET                24 /* the original address that an indirect branch wants */
#define THREAD_EXIT                  32 /* 32 bits: the exit through which the cache was left */
#define THREAD_REASON                36 /* 32 bits: enum stalker_reason */
#define THREAD_GATE                  40 /* the gates' addresses */
#define THREAD_GATE_COLLISION        48
#define THREAD_GATE_CALLOUT          56
#define THREAD_BLOCKS                64 /* the struct hash_map from original addresses to blocks */
#define THREAD_EVENT_POSITION        72 /* where the next event goes */
#define THREAD_EVENT_LIMIT           80 /* where no event may begin any more */
#define THREAD_SCRATCH               88 /* 8 bytes for whoever needs them within one instruction's translation */
#define THREAD_NATIVE_RETURN         96 /* where a native call returns to */
#define THREAD_GATE_CALLOUT_POSITION 104
#define THREAD_GATE_EVENTS           112
#define THREAD_ENTER                 120 /* how the cache is entered and left: with or without a position in a register */
#define THREAD_LEAVE                 128
#define THREAD_GATE_CHANGED          136
#define THREAD_GATE_QUIET_END        144
#define THREAD_QUIET_SP              152
#define THREAD_GATE_CALLED           160
#define THREAD_IS_LEAVING            168
#define THREAD_BASE                  176 /* what the program has as its thread base */
#define THREAD_SIGNALS_HELD          184 /* not 0: all are blocked until the cache is entered again */
#define THREAD_SIGNALS_MASK          192 /* what is blocked from then on */
#define THREAD_COLLISIONS            200 /* of indirect branches */
#define THREAD_CALL_KEY              208 /* what gives 0 with the stack pointer of a system call that is told */
#define THREAD_CONTEXT               256 /* struct gait_cpu_context, of which each register is the home of its own */
#define THREAD_CONTEXT_PC            (THREAD_CONTEXT + CONTEXT_PC)
#define THREAD_CONTEXT_FLAGS         (THREAD_CONTEXT + CONTEXT_FLAGS)

/* Those that the gates set. */
#define STALKER_REASON_EXIT      0
#define STALKER_REASON_INDIRECT  1
#define STALKER_REASON_EVENTS    2
#define STALKER_REASON_CHANGED   3
#define STALKER_REASON_QUIET_END 4
#define STALKER_REASON_CALLED    5

#endif

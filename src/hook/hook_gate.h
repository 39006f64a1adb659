/* SPDX-License-Identifier: MIT */
/*
 * Between stubs and the rest: the gates that stubs call, in arch/<cpu>/host, and what the gates call. A gate does what
 * is usual by itself: it finds its thread, pushes or pops an invocation, and writes a record or calls listeners on
 * their stack. All else goes the slow way: the registers are saved in a frame on the program's stack, the thread is
 * found or made, and the rest is done on the listeners' stack, with signals blocked, before any listener is called.
 */
#ifndef GAIT_HOOK_HOOK_GATE_H
#define GAIT_HOOK_HOOK_GATE_H

#include "gait/cpu_context.h"
#include "hook/hook_thread_layout.h"

#include <stdbool.h>
#include <stdint.h>

struct hook_thread;
struct invocation;

/* What a gate saves of a context: no more than this CPU has, since it is on the program's stack, which may be small. */
struct hook_gate_registers {
    uint64_t registers[GAIT_CPU_REGISTER_COUNT];
    uint64_t pc; /* set where the thread is sent elsewhere */
    uint64_t flags;
};

struct hook_gate_frame {
    struct hook_thread *thread;
    uint32_t kind;    /* HOOK_GATE_* */
    uint32_t outcome; /* HOOK_OUTCOME_* */
    uint64_t mask;    /* of the program's signals */
    struct invocation *invocation;
    uint32_t is_forked;
    uint32_t is_listening;
    uint32_t is_blocked;         /* signals, while listeners run */
    uint32_t is_counter_allowed; /* which the thread has forbidden itself */
    struct hook_gate_registers saved;
    uint64_t stub; /* what the gate returns to; behind the frame */
};

/* Addresses of gates. The second ones take the slow way always, for systems where threads cannot be found quickly. */
void hook_gate_enter_record(void);
void hook_gate_leave_record(void);
void hook_gate_enter_listen(void);
void hook_gate_leave_listen(void);
void hook_gate_once_record(void);
void hook_gate_once_listen(void);
void hook_gate_enter_any(void);
void hook_gate_leave_any(void);
void hook_gate_once_any(void);

/* Where functions of Go begin and return. */
void hook_gate_goroutine_record(void);

/* The stub of unwinders, which none of them is entered through. */
void hook_unwinder_stub(void);

/*
 * What the gates call, in this order, in turn on the program's stack and on the one for listeners. Those that return
 * something say where the next one runs, or 0: that is all.
 */
uint64_t hook_gate_find(struct hook_gate_frame *frame);
void hook_gate_track(struct hook_gate_frame *frame);
uint64_t hook_gate_unblock(struct hook_gate_frame *frame);
void hook_gate_listen(struct hook_gate_frame *frame);
void hook_gate_listened(struct hook_gate_frame *frame);

/*
 * For a handler that begins, by its frame (see signal_saved.h): if what it has interrupted is a gate that has taken the
 * place of a record, that is written, since the handler may not come back. Nothing is done twice. In arch/<cpu>/host.
 */
void hook_gate_complete_record(uint64_t frame);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * System calls of a program whose code is patched where it makes them: between the stubs (hook/system_call_stub.h) and
 * who wants to know. A gate finds its thread and notes what is made and when; another one tells it, when it has
 * returned. All registers are the program's when the call is made, the stack pointer included, so signals, children and
 * restarts are what they would be without. No libc; inside the target.
 */
#ifndef GAIT_HOOK_SYSTEM_CALL_GATE_H
#define GAIT_HOOK_SYSTEM_CALL_GATE_H

#include "base/attributes.h"
#include "hook/hook_thread_layout.h"

#include <stdbool.h>
#include <stdint.h>

struct hook_thread;

/* What a stub begins with. */
struct system_call_knowledge {
    uint64_t enter_gate;
    uint64_t leave_gate;
    uint64_t call_at;  /* where the call is made and told */
    uint64_t child_at; /* the same, of one that returns in a child, too */
    uint64_t plain_at; /* where it is made as in the program */
    uint64_t after;    /* behind that: where all of them go on */
    uint64_t behind;   /* the same in the program: behind the instruction that was patched */
};

/*
 * A system call, as a gate has it on the program's stack. That is all that it takes of that, where there may be little:
 * what is told is told on another one then, with signals blocked.
 */
struct system_call_frame {
    int64_t result;
    uint64_t arguments[6];
    uint64_t number;
    uint64_t entered_time; /* the counter */
    uint64_t sp;
    const struct system_call_knowledge *stub;
    uint32_t kind;         /* CALL_KIND_* */
    uint32_t is_elsewhere; /* this is not the stack that we are on, and there is enough of that */
    uint64_t mask;         /* of the gate's: signals that were blocked before */
    uint64_t kept;         /* of the gate's: the thread, or where a stack was mapped */
    uint64_t note;         /* of the watcher's, from when it is entered until it is left */
    uint64_t registers[6]; /* those that functions leave as they are, but for the stack pointer; in the CPU's order */
};

/* Who wants to know. There are some KiB of stack, the program's or not; signals may come at any time. */
struct system_call_watcher {
    /* One of CALL_KIND_SPECIAL is about to be made. CALL_MADE_*. Signals are blocked. May set the result and the note.
     */
    unsigned (*enters)(struct hook_thread *thread, struct system_call_frame *frame);
    /* It has returned. */
    void (*left)(struct hook_thread *thread, const struct system_call_frame *frame);
};

/*
 * Who is told from now on; NULL: nobody. A byte for each value of a number's low 16 bits says what is done about it:
 * system_call_kinds() is where they are, for who sets them, and for stubs. -ENOMEM.
 */
MUST_USE int system_calls_begin(const struct system_call_watcher *watcher);
void system_calls_end(void);

uint8_t *system_call_kinds(void);

/* Addresses of the gates; in arch/<cpu>/host. The second ones are for systems where threads cannot be found quickly. */
void system_call_gate_enter(void);
void system_call_gate_leave(void);
void system_call_gate_enter_any(void);
void system_call_gate_leave_any(void);

/* What the gates call. */
unsigned system_call_gate_entered(struct system_call_frame *frame);
void system_call_gate_left(struct hook_thread *thread, struct system_call_frame *frame);
void system_call_gate_left_unknown(struct system_call_frame *frame);

#endif

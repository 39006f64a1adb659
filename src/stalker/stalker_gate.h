/* SPDX-License-Identifier: MIT */
/*
 * Between translated code and the engine: the gates that it leaves the cache through, and what else of following has to
 * run on the CPU itself. All of it is in arch/<cpu>/host.
 */
#ifndef GAIT_STALKER_STALKER_GATE_H
#define GAIT_STALKER_STALKER_GATE_H

#include <stdbool.h>
#include <stdint.h>

struct gait_cpu_context;
struct stalker_thread;
struct system_call;

/* Addresses of the gates. */
void stalker_gate_exit(void);
void stalker_gate_begin(void);
void stalker_gate_events(void);
void stalker_gate_changed(void);
void stalker_gate_called(void);
void stalker_gate_quiet_end(void);
void stalker_gate_callout(void);
void stalker_gate_callout_with_position(void);
void stalker_leave(void);
void stalker_leave_with_position(void);
void stalker_enter(void);
void stalker_enter_with_position(void);
void stalker_gate_indirect(void);

/* Fills in the registers as they are in the caller when this has returned. */
void stalker_capture(struct gait_cpu_context *cpu_out);

/* Set and get the thread base: the register that translated code finds its thread with. */
void stalker_base_set(uint64_t base);

/*
 * A system call of the program's that concerns that register: done for it, without disturbing us. False: it concerns
 * something else.
 */
bool stalker_base_call(struct stalker_thread *thread, const struct system_call *call, long *result_out);

/*
 * Makes the system call in the parent's context, which makes a thread; that thread begins in the engine, as `child`.
 * Returns what the parent gets.
 */
long stalker_clone(struct stalker_thread *parent, struct stalker_thread *child);

/* Where that call returns to. */
extern const char stalker_clone_called[] __attribute__((visibility("hidden")));
uint64_t stalker_base_get(void);

#endif

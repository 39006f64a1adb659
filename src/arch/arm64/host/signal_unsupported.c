/* SPDX-License-Identifier: MIT */
/*
 * The frames of signal handlers, for which nobody asks while gait cannot follow threads on this CPU. As with
 * stalker_unsupported.c, this is there to be linked.
 */
#include "stalker/signal_frame.h"

void stalker_signal_entry(void)
{
}

void stalker_signal_restorer(void)
{
}

_Noreturn void stalker_signal_return(void *ucontext, uint64_t flags)
{
    (void)flags;
    (void)ucontext;
    __builtin_trap();
}

enum gate_place stalker_gate_recover(struct stalker_thread *thread, struct gait_cpu_context *cpu)
{
    (void)thread;
    (void)cpu;
    return GATE_UNKNOWN;
}

void signal_frame_get(const void *ucontext, struct gait_cpu_context *cpu_out)
{
    (void)ucontext;
    (void)cpu_out;
}

void signal_frame_set(void *ucontext, const struct gait_cpu_context *cpu)
{
    (void)ucontext;
    (void)cpu;
}

bool signal_frame_steps(const struct gait_cpu_context *cpu)
{
    (void)cpu;
    return false;
}

void signal_frame_end_steps(struct gait_cpu_context *cpu)
{
    (void)cpu;
}

bool signal_frame_is_between(const struct gait_cpu_context *cpu, uint64_t from)
{
    (void)cpu;
    (void)from;
    return false;
}

uint64_t *signal_frame_mask(void *ucontext)
{
    (void)ucontext;
    return NULL;
}

struct signal_stack *signal_frame_stack(void *ucontext)
{
    (void)ucontext;
    return NULL;
}

uint64_t signal_frame_info_at(uint64_t start)
{
    (void)start;
    return 0;
}

uint64_t signal_frame_ucontext_at(uint64_t start)
{
    (void)start;
    return 0;
}

void signal_frame_place(struct signal_copy *copy, uint64_t below)
{
    (void)copy;
    (void)below;
}

uint64_t signal_frame_kept_bytes(void)
{
    return 0;
}

void signal_frame_write(const struct signal_copy *copy)
{
    (void)copy;
}

void signal_frame_enter(const struct signal_copy *copy, int signal, uint64_t handler, struct gait_cpu_context *cpu)
{
    (void)copy;
    (void)signal;
    (void)handler;
    (void)cpu;
}

_Noreturn void signal_frame_leave(struct stalker_thread *thread)
{
    (void)thread;
    __builtin_trap();
}

_Noreturn void signal_frame_return(const struct stalker_thread *thread, const void *ucontext)
{
    (void)thread;
    (void)ucontext;
    __builtin_trap();
}

void signal_info_move(void *info, uint64_t from, uint64_t to)
{
    (void)info;
    (void)from;
    (void)to;
}

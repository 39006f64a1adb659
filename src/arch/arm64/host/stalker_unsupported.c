/* SPDX-License-Identifier: MIT */
/*
 * What the stalker needs of this CPU, while gait cannot follow threads on it: translator_host() is NULL, no engine is
 * made, and nobody comes here. It is there to be linked.
 */
#include "stalker/follow.h"
#include "stalker/translator.h"
#include "stalker/vectors.h"

#include <asm/errno.h>

#define GATE(name)                                                                                                     \
    void name(void)                                                                                                    \
    {                                                                                                                  \
    }

GATE(stalker_gate_exit)
GATE(stalker_gate_begin)
GATE(stalker_gate_events)
GATE(stalker_gate_changed)
GATE(stalker_gate_called)
GATE(stalker_gate_quiet_end)
GATE(stalker_gate_callout)
GATE(stalker_gate_callout_with_position)
GATE(stalker_gate_indirect)
GATE(stalker_leave)
GATE(stalker_leave_with_position)
GATE(stalker_enter)
GATE(stalker_enter_with_position)

int stalker_follow_caller(void *a, const void *b, void *c,
                          int (*prepare)(void *a, const void *b, void *c, struct stalker_thread **thread_out))
{
    (void)a;
    (void)b;
    (void)c;
    (void)prepare;
    return -EOPNOTSUPP;
}

const char stalker_clone_called[1];

long stalker_clone(struct stalker_thread *parent, struct stalker_thread *child)
{
    (void)parent;
    (void)child;
    return -EOPNOTSUPP;
}

void stalker_capture(struct gait_cpu_context *cpu_out)
{
    (void)cpu_out;
}

void stalker_segment_set(uint64_t base)
{
    (void)base;
}

uint64_t stalker_segment_get(void)
{
    return 0;
}

bool stalker_segment_call(struct stalker_thread *thread, const struct system_call *call, long *result_out)
{
    (void)thread;
    (void)call;
    (void)result_out;
    return false;
}

size_t vector_state_bytes(void)
{
    return 0;
}

void vector_state_init(void *area)
{
    (void)area;
}

void vector_state_save(void *area)
{
    (void)area;
}

void vector_state_restore(void *area)
{
    (void)area;
}

/* SPDX-License-Identifier: MIT */
/*
 * A call of a hooked function, as listeners see it: when the function is entered, when it returns, or when the call
 * ends without returning because an exception or longjmp went past it. Valid until the listener returns.
 *
 * Listeners run on the thread that makes the call, on a stack of 128 KiB of their own, and may call anything that is
 * safe where the program happens to be (in the middle of malloc, say). Functions that they call are not hooked for
 * them: no listener is notified of what a listener does. They must return; throwing or jumping out of one is not
 * allowed.
 */
#ifndef GAIT_HOOK_INVOCATION_H
#define GAIT_HOOK_INVOCATION_H

#include "gait/cpu_context.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum gait_invocation_point {
    GAIT_INVOCATION_ENTER,   /* nothing of the function has run */
    GAIT_INVOCATION_LEAVE,   /* it has returned, the caller has not gone on yet */
    GAIT_INVOCATION_UNWOUND, /* it will never return; reported when noticed, with the registers of that moment */
    GAIT_INVOCATION_PROBE,   /* at a probed instruction, before it runs */
};

/* Bytes that each listener has for each call. */
#define GAIT_INVOCATION_DATA_BYTES 64

struct gait_invocation {
    /*
     * What the program has in its registers. They may be changed: the program goes on with that. At ENTER and PROBE the
     * pc is that of the function or the instruction, at LEAVE it is the return address; the thread goes on elsewhere if
     * it is changed. At UNWOUND changes are ignored. Floating-point arguments and results: gait/cpu_registers.h.
     */
    struct gait_cpu_context *cpu;
    uint64_t function;       /* the address that is hooked */
    uint64_t return_address; /* the caller's; 0 at PROBE */
    void *data;              /* as given with the listener */
    void *call_data; /* GAIT_INVOCATION_DATA_BYTES of this listener's for this call, zero at ENTER; NULL: none */
    uint32_t thread_id;
    uint32_t depth; /* how many calls of hooked functions this one is in */
    enum gait_invocation_point point;
    int error_number; /* the thread's errno, where it is known; may be changed, 0 otherwise */
};

typedef void (*gait_invocation_function)(struct gait_invocation *invocation);

/* Where an argument of an integer or pointer type is, from 0 on, at ENTER: in a register or on the stack. */
static inline uint64_t *gait_invocation_argument_place(const struct gait_invocation *invocation, unsigned number)
{
    return gait_cpu_argument_place(invocation->cpu, number);
}

static inline uint64_t gait_invocation_argument(const struct gait_invocation *invocation, unsigned number)
{
    return gait_cpu_argument(invocation->cpu, number);
}

static inline void gait_invocation_argument_set(struct gait_invocation *invocation, unsigned number, uint64_t value)
{
    gait_cpu_argument_set(invocation->cpu, number, value);
}

/* What the function returns, if that is an integer or a pointer, at LEAVE. */
static inline uint64_t gait_invocation_return_value(const struct gait_invocation *invocation)
{
    return gait_cpu_result(invocation->cpu);
}

static inline void gait_invocation_return_value_set(struct gait_invocation *invocation, uint64_t value)
{
    gait_cpu_result_set(invocation->cpu, value);
}

#ifdef __cplusplus
}
#endif

#endif

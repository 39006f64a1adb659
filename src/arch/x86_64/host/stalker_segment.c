/* SPDX-License-Identifier: MIT */
/*
 * The gs base, by way of the kernel: instructions for it exist only where the system allows them. The same system call
 * asks for state that is not anybody's, which is tiles.
 */
#include "base/raw_syscall.h"
#include "stalker/stalker_gate.h"

#include "stalker/program_memory.h"
#include "stalker/signal_stack.h"
#include "stalker/signal_virtualize.h"
#include "stalker/system_call.h"
#include "stalker/thread.h"

#include <asm/errno.h>
#include <asm/prctl.h>
#include <asm/unistd.h>

void stalker_base_set(uint64_t base)
{
    raw_syscall(__NR_arch_prctl, ARCH_SET_GS, (long)base, 0, 0, 0, 0);
}

uint64_t stalker_base_get(void)
{
    uint64_t base = 0;

    raw_syscall(__NR_arch_prctl, ARCH_GET_GS, (long)&base, 0, 0, 0, 0);
    return base;
}

/* Whether a base is one is up to the kernel, which is asked; meanwhile a signal would find it instead of ours. */
static long try_base(struct stalker_thread *thread, uint64_t base)
{
    uint64_t ours = stalker_base_get();
    long result;

    signal_thread_hold(thread);
    result = raw_syscall(__NR_arch_prctl, ARCH_SET_GS, (long)base, 0, 0, 0, 0);
    stalker_base_set(ours);
    return result;
}

bool stalker_base_call(struct stalker_thread *thread, const struct system_call *call, long *result_out)
{
    uint64_t argument = (uint64_t)call->arguments[1];

    switch (call->arguments[0]) {
    case ARCH_SET_GS:
        *result_out = try_base(thread, argument);
        if (*result_out == 0)
            thread->thread_base = argument;
        return true;
    case ARCH_GET_GS:
        *result_out = -EFAULT;
        if (!program_memory_make_writable(argument, sizeof(thread->thread_base)))
            return true;
        *(uint64_t *)(uintptr_t)argument = thread->thread_base;
        *result_out = 0;
        return true;
    case ARCH_REQ_XCOMP_PERM:
        *result_out = signal_stack_state_call(thread, call);
        return true;
    default:
        return false;
    }
}

/* SPDX-License-Identifier: MIT */
/* The frame of x86-64: return address, ucontext, siginfo. */
#include "arch/signal_saved.h"

#include <asm/sigcontext.h>
#include <asm/signal.h>
#include <asm/ucontext.h>
#include <stddef.h>

#define UCONTEXT_AT 8

uint64_t signal_saved_pc_at(uint64_t frame)
{
    return frame + UCONTEXT_AT + offsetof(struct ucontext, uc_mcontext) + offsetof(struct sigcontext, rip);
}

uint64_t signal_saved_sp_at(uint64_t frame)
{
    return frame + UCONTEXT_AT + offsetof(struct ucontext, uc_mcontext) + offsetof(struct sigcontext, rsp);
}

uint64_t signal_saved_pc_in(uint64_t ucontext)
{
    return signal_saved_pc_at(ucontext - UCONTEXT_AT);
}

uint64_t signal_trap_distance(void)
{
    return 1;
}

void signal_restorer_routine(void);

uint64_t signal_restorer(void)
{
    return (uintptr_t)signal_restorer_routine;
}

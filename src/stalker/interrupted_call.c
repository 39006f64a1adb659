/* SPDX-License-Identifier: MIT */
/*
 * What the kernel does when it delivers a signal to a thread in a system call. Invariant: where the note's pc is the
 * program's, the call has not begun again.
 */
#include "stalker/interrupted_call.h"

#include "arch/engine.h"
#include "base/raw_syscall.h"
#include "stalker/signal_actions.h"
#include "stalker/stalker_engine.h"
#include "stalker/thread.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/signal.h>

void interrupted_call_note(struct stalker_thread *thread, const struct thread_registers *registers)
{
    thread->interrupted = (struct interrupted_call){thread->context.pc, thread_registers_restart(registers)};
}

void interrupted_call_forget(struct stalker_thread *thread)
{
    thread->interrupted.restart = THREAD_RESTART_NONE;
}

static bool ends(enum thread_restart restart, const struct signal_action *action)
{
    switch (restart) {
    case THREAD_RESTART_WITHOUT_HANDLER:
        return true;
    case THREAD_RESTART_IF_ASKED:
        return !(action->flags & SA_RESTART);
    default:
        return false;
    }
}

void interrupted_call_handled(struct stalker_thread *thread, struct gait_cpu_context *cpu,
                              const struct signal_action *action)
{
    if (thread->interrupted.restart == THREAD_RESTART_NONE || cpu->pc != thread->interrupted.pc)
        return;
    if (ends(thread->interrupted.restart, action))
        thread->engine->machine->registers->system_call_done(cpu, -EINTR);
    interrupted_call_forget(thread);
}

/* The kernel takes the lowest first; what it does by itself ends the process, or is none of the program's business. */
static int next_handled(uint64_t signals, struct signal_action *action_out)
{
    for (int signal = 1; signal <= SIGNAL_COUNT; signal++) {
        if (!(signals >> (signal - 1) & 1))
            continue;
        *action_out = signal_actions_get(signal);
        if (action_out->handler != (uintptr_t)SIG_DFL && action_out->handler != (uintptr_t)SIG_IGN)
            return signal;
    }
    return 0;
}

void interrupted_call_leave(struct stalker_thread *thread)
{
    struct signal_action action;
    uint64_t pending = 0;

    if (thread->interrupted.restart == THREAD_RESTART_NONE)
        return;
    raw_syscall(__NR_rt_sigpending, (long)&pending, sizeof(pending), 0, 0, 0, 0);
    if (next_handled(pending & ~thread->signals_mask, &action) != 0)
        interrupted_call_handled(thread, &thread->context, &action);
}

/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "inject/thread_dispatch.h"

#include "hosted/error_text.h"

#include <errno.h>
#include <sys/ptrace.h>

/* Not in the headers of older C libraries. */
#define SET_DISPATCH 0x4210
#define GET_DISPATCH 0x4211

struct agent_dispatch thread_dispatch_get(const struct tracee *thread)
{
    struct agent_dispatch dispatch = {.mode = 0};

    if (ptrace((enum __ptrace_request)GET_DISPATCH, thread->tid, sizeof(dispatch), &dispatch) != 0)
        return (struct agent_dispatch){.mode = 0};
    return dispatch;
}

void thread_dispatch_set(const struct tracee *thread, const struct agent_dispatch *dispatch)
{
    struct agent_dispatch wanted = *dispatch;

    (void)!ptrace((enum __ptrace_request)SET_DISPATCH, thread->tid, sizeof(wanted), &wanted);
}

struct agent_dispatch thread_dispatch_pause(const struct tracee *thread)
{
    static const struct agent_dispatch off;
    struct agent_dispatch before = thread_dispatch_get(thread);

    if (before.mode != 0)
        thread_dispatch_set(thread, &off);
    return before;
}

void thread_dispatch_resume(const struct tracee *thread, const struct agent_dispatch *before)
{
    if (before->mode != 0)
        thread_dispatch_set(thread, before);
}

int thread_dispatch_check(const struct tracee *thread, struct gait_error *err)
{
    if (thread_dispatch_get(thread).mode == 0)
        return 0;
    return error_set(err, EOPNOTSUPP,
                     "cannot record process %d: its thread %d has its system calls dispatched to itself already "
                     "(PR_SET_SYSCALL_USER_DISPATCH), those of gait, too; start it with gait spawn, or look from "
                     "outside, by 'gait syscalls --via ptrace' or gait probe",
                     (int)thread->pid, (int)thread->tid);
}

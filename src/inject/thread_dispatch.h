/* SPDX-License-Identifier: MIT */
/*
 * Whether a stopped thread has its system calls dispatched to itself (syscall user dispatch): what the kernel knows of
 * that, read and changed from outside. Kernels before 6.4 do not tell: there all threads are as if they had none.
 */
#ifndef GAIT_INJECT_THREAD_DISPATCH_H
#define GAIT_INJECT_THREAD_DISPATCH_H

#include "base/attributes.h"
#include "gait/error.h"
#include "inject/tracee.h"
#include "protocol/agent_call.h"

/* What it has; all zero: it is not dispatched. */
struct agent_dispatch thread_dispatch_get(const struct tracee *thread);

/* Changes that. A thread that is gone meanwhile needs nothing any more. */
void thread_dispatch_set(const struct tracee *thread, const struct agent_dispatch *dispatch);

/* Before the thread makes calls for us; and behind that, with what was before. */
struct agent_dispatch thread_dispatch_pause(const struct tracee *thread);
void thread_dispatch_resume(const struct tracee *thread, const struct agent_dispatch *before);

/* -EOPNOTSUPP: it has asked for it before we came, so the agent's calls would be held back. */
MUST_USE int thread_dispatch_check(const struct tracee *thread, struct gait_error *err);

#endif

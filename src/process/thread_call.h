/* SPDX-License-Identifier: MIT */
/*
 * The system call that another thread of this process is in, as /proc/self/task shows it. Raw system calls, no memory,
 * no locks: callable from any thread, in signal handlers and inside the target.
 */
#ifndef GAIT_PROCESS_THREAD_CALL_H
#define GAIT_PROCESS_THREAD_CALL_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>

struct thread_call {
    int64_t number; /* -1: it waits, but in no system call */
    uint64_t arguments[6];
    uint64_t sp;
    uint64_t pc;
};

/* -EAGAIN: it runs; -ESRCH: there is no such thread, or no /proc; -EIO: the kernel's answer makes no sense. */
MUST_USE int thread_call_read(int tid, struct thread_call *call_out);

/* What the kernel's line says. -EAGAIN, -EIO. */
MUST_USE int thread_call_parse(const char *line, size_t length, struct thread_call *call_out);

#endif

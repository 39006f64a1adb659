/* SPDX-License-Identifier: MIT */
/*
 * Making a stopped thread of another process do something for us: a system call, or a call of the agent. Afterwards it
 * is stopped again and its registers are what they were, unless the agent changed them.
 *
 * If we are killed during a call of the agent, the thread finishes it and goes on by itself. So it does during a system
 * call if it is about to begin a program, which does not look at most registers then; or if there is a shelter for it.
 * Else it cannot: so there are few of them, and they are short.
 */
#ifndef GAIT_INJECT_REMOTE_H
#define GAIT_INJECT_REMOTE_H

#include "base/attributes.h"
#include "base/memory_map.h"
#include "inject/tracee.h"
#include "protocol/agent_call.h"

#include <stdint.h>

/* A place in the target where there is an instruction that makes a system call. */
struct remote_place {
    uint64_t address;
    unsigned return_words; /* as system_call_return_words has it: if there is any such place it is one */
};

/* Finds one in the vdso, or elsewhere if the program has none, but not in `except`: that is to go. -ENOENT. */
MUST_USE int remote_find_system_call(pid_t pid, struct memory_range except, struct remote_place *place_out);

/* The same of a thread; if it is about to begin a program, in a quicker way. */
MUST_USE int remote_find_first_system_call(const struct tracee *tracee, struct remote_place *place_out);

/* Makes a system call. Returns what the kernel answered in *result_out; 0, or what keeps us from making it. */
MUST_USE int remote_system_call(struct tracee *tracee, const struct remote_place *place, long number,
                                const long arguments[6], long *result_out);

/* The agent in the target. */
struct remote_agent {
    struct agent_segment segments[AGENT_SEGMENTS_MAX]; /* whose access the agent is to set */
    uint32_t segment_count;
    int file_fd;    /* where our own file, that it may be mapped from, is open, for the agent to close; -1: nowhere */
    uint64_t start; /* of all its memory */
    uint64_t size_bytes;
    uint64_t main;    /* agent_main */
    uint64_t routine; /* through which threads come to it */
    uint64_t landing; /* a struct thread_landing */
    uint64_t call;    /* a struct agent_call */
    uint64_t stack_end;
    uint64_t vector_state;
};

/*
 * Writes the call, lets the thread run agent_main and reads the answer. Then the thread is stopped where it was, or
 * where the agent's change of its registers takes it. -EFAULT: the agent has faulted, and the thread is where it was.
 */
MUST_USE int remote_agent_call(struct tracee *tracee, const struct remote_agent *agent, struct agent_call *call);

/*
 * The same for AGENT_START, of a thread that is about to begin a program. If the agent has done it, the thread stays in
 * its hands, stopped: it goes on when that was allowed (remote_agent_let_start) and is let go. Else it is where it was.
 * Not of one that blocks the signal by which it would stop itself (remote_agent_can_start).
 */
bool remote_agent_can_start(const struct tracee *tracee);
MUST_USE int remote_agent_start(struct tracee *tracee, const struct remote_agent *agent, struct agent_call *call);
MUST_USE int remote_agent_let_start(const struct tracee *tracee, const struct remote_agent *agent);

#endif

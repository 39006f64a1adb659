/* SPDX-License-Identifier: MIT */
/*
 * A thread of another process that we trace: stopping it, its registers, its memory, letting it go. Signals that come
 * for it while it is in our hands are kept, and sent again when it goes on. If we die meanwhile, the kernel lets it go
 * as it is. For one thread of the controller: only the thread that traces may call these.
 */
#ifndef GAIT_INJECT_TRACEE_H
#define GAIT_INJECT_TRACEE_H

#include "arch/thread_registers.h"
#include "base/attributes.h"

#include "protocol/agent_call.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TRACEE_SIGNALS_MAX 64

struct tracee {
    pid_t pid; /* of the process */
    pid_t tid;
    bool is_stopped;
    bool is_fresh;  /* it is at a program's first instruction, and has registers that are not read */
    bool is_ours;   /* we have made the process: nothing confines it that does not confine us */
    bool has_child; /* tracee_interrupt has stopped it where it had just made a process that is traced, too */
    bool has_ended;
    int killed_by;                  /* the signal that ended its process, once that is known; 0: none */
    unsigned faults_left;           /* before tracee_keep_signals gives up; 0: it never does */
    int file_fd;                    /* 1 + where it has our own file open, for the agent's sake; 0: nowhere */
    struct agent_dispatch dispatch; /* what it is to have when it is let go; all zero: what it has */
    unsigned signal_count;
    siginfo_t signals[TRACEE_SIGNALS_MAX];
};

/* Begins to trace a thread, which runs on. -ESRCH, -EPERM. */
MUST_USE int tracee_seize(struct tracee *tracee, pid_t pid, pid_t tid);

/* The same for a child of ours: until it is let go it ends with us, for it is no program yet. */
MUST_USE int tracee_seize_own(struct tracee *tracee, pid_t child);

/* The same, and processes that it makes are traced as well, from their first instruction. */
MUST_USE int tracee_seize_with_children(struct tracee *tracee, pid_t pid, pid_t tid);

/* Stops it wherever it is. -ESRCH: it has ended; -ETIMEDOUT, -ETIME: it does not stop, see stop_patience.h. */
MUST_USE int tracee_interrupt(struct tracee *tracee);

/* The same in two steps, for many at once. 0: it has stopped; -EAGAIN: not yet, to be tried again; -ESRCH. */
MUST_USE int tracee_interrupt_begin(struct tracee *tracee);
MUST_USE int tracee_interrupt_try(struct tracee *tracee);

/* What is waited for. */
enum tracee_event {
    TRACEE_EXEC,        /* it is at the first instruction of another program */
    TRACEE_STEP,        /* it has done one instruction */
    TRACEE_SYSTEM_CALL, /* it is about to make a system call, or has made it */
    TRACEE_INTERRUPTED,
    TRACEE_CHILD,      /* it has made a process that is traced */
    TRACEE_GROUP_STOP, /* its process was stopped by a signal */
};

/* Which one a status of waitpid means, of a thread that has stopped; negative: a signal that is to be delivered. */
int tracee_event_of(int status);

/* Lets a thread that has stopped run, up to the next of these events or those that always stop it, with a signal or 0.
 * -ESRCH. */
MUST_USE int tracee_resume(struct tracee *tracee, enum tracee_event event, int signal);

/*
 * Lets a thread that should be running go on without signals that have come, which it gets later. -ESRCH; -EFAULT: it
 * stands at an instruction that faults, and has tried as often as it may.
 */
MUST_USE int tracee_keep_signals(struct tracee *tracee);

/* Waits until a thread that runs stops at this signal, which it does not get. With others it goes on, as above. */
MUST_USE int tracee_await_signal(struct tracee *tracee, int signal);

/* Lets a thread whose process was stopped by a signal be so, until it is continued. */
MUST_USE int tracee_let_be_stopped(struct tracee *tracee);

/* The process that it has made. */
MUST_USE int tracee_child(const struct tracee *tracee, pid_t *child_out);

/* Lets it run until then. -ESRCH: it has ended, and *status_out, if given, says how. */
MUST_USE int tracee_run_until(struct tracee *tracee, enum tracee_event event, int *status_out);

/* -ENOEXEC: it is in 32-bit code, and has other registers. */
MUST_USE int tracee_get_registers(const struct tracee *tracee, struct thread_registers *registers_out);
MUST_USE int tracee_set_registers(const struct tracee *tracee, const struct thread_registers *registers);

/* The vector and floating-point registers, as the kernel has them. */
#define TRACEE_VECTOR_BYTES_MAX 16384

struct tracee_vectors {
    size_t size_bytes;
    uint8_t bytes[TRACEE_VECTOR_BYTES_MAX];
};

MUST_USE int tracee_get_vectors(const struct tracee *tracee, struct tracee_vectors *vectors_out);
MUST_USE int tracee_set_vectors(const struct tracee *tracee, const struct tracee_vectors *vectors);

/* Which signals are held back. While all are, none comes between us and the thread. */
MUST_USE int tracee_get_mask(const struct tracee *tracee, uint64_t *mask_out);
MUST_USE int tracee_set_mask(const struct tracee *tracee, uint64_t mask);

struct tracee_call {
    uint64_t number;
    uint64_t arguments[6];
};

/* The system call that it is about to make. False: it is not. */
bool tracee_system_call(const struct tracee *tracee, struct tracee_call *call_out);

/*
 * How a process ended, if waitpid said so to one of the functions above instead of to who wants to know. Once for each.
 */
bool tracee_take_end(pid_t tid, int *status_out);

/* Lets it go, with the signals that came for it. -ESRCH: it has ended or is about to, or does not stand still. */
int tracee_detach(struct tracee *tracee);

/* Looks at one of which that was said: true if it is dead, or could be let go now. */
bool tracee_bury(struct tracee *tracee);

/* Memory of a process, whatever its access. -EFAULT: there is none; -ESRCH, -EPERM. */
MUST_USE int process_memory_read(pid_t pid, uint64_t address, void *bytes_out, size_t size_bytes);
MUST_USE int process_memory_write(pid_t pid, uint64_t address, const void *bytes, size_t size_bytes);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What hooks know of a thread of the process: the calls of hooked functions that it is in, a stack for listeners, where
 * its records go. Made when a thread first enters a hooked function, used again for another when it is dead.
 *
 * A register of the thread's that programs have hardly any use for, its base, points to it, where the system lets
 * programs set that by an instruction and this one does not use it; then the gates of stubs find it by themselves. All
 * of them are in one reservation, so that a base that is not ours is known before anything is read there; and the
 * thread pointer tells whether it is this thread's or that of the one which made it, whose base a thread begins with.
 * No libc; inside the target.
 */
#ifndef GAIT_HOOK_HOOK_THREAD_H
#define GAIT_HOOK_HOOK_THREAD_H

#include "base/attributes.h"
#include "gait/cpu_context.h"
#include "hook/invocation_stack.h"
#include "process/own_stack.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ring_writer;
struct call_data;
struct call_data_page;
struct hook_thread;

struct hook_threads_options {
    /* In a forked child, on its first thread that comes by a stub, before anything is told. On the listeners' stack. */
    void (*forked)(void);
    /* Where the C library has a thread's errno; NULL: there is none that is known. */
    int *(*errno_location)(void);
    /* A thread with `details` has ended; or, in a forked child, they are of the parent. Under the lock; may be NULL. */
    void (*ended)(struct hook_thread *thread);
    void (*forgotten)(struct hook_thread *thread);
};

/* How many sizes of data there are for calls: for 1, 2, 4... listeners. */
#define CALL_DATA_SIZES 8

/* A system call that has not returned yet, known by the stack pointer it was made with. */
struct hook_thread_call {
    uint64_t sp;
    uint64_t time; /* the counter */
    uint64_t number;
    uint64_t note; /* of who wants to know */
};

struct hook_thread {
    struct invocation_stack invocations;
    _Atomic uint64_t position; /* where its next record goes */
    union {
        _Atomic uint32_t ignoring;       /* 0: nothing */
        _Atomic uint8_t ignoring_why[4]; /* by HOOK_IGNORING_* */
    };
    uint32_t tid;       /* 0: nobody's; what is still in `invocations` may come back on another thread */
    uint64_t stack_low; /* of its stack for listeners */
    uint64_t stack_top;
    uint64_t gate_sp; /* of a gate while HOOK_LISTENING_GATE */
    uint64_t own_low; /* of the stack that it began with; 0 bytes: not known */
    uint64_t own_bytes;
    struct hook_thread_call *calls; /* HOOK_THREAD_CALLS_MAX of them */
    uint32_t call_next;
    uint32_t is_lending;        /* a child that shares our memory uses this until it executes a program: vfork */
    _Atomic uint64_t goroutine; /* as HOOK_THREAD_GOROUTINE says; others change it to 0 where it goes on elsewhere */
    uint64_t reserved[1];
    struct gait_cpu_context context; /* while listeners run that a gate has called */
    uint64_t thread_pointer;
    uint32_t index;
    uint32_t stack_number;       /* of the calls that were suspended last: see suspended_calls.h */
    uint32_t suspended_seen;     /* so many of its suspended calls were looked at, whether they are over */
    bool has_stacks;             /* more than one, as far as its calls tell */
    uint32_t ignore_count;       /* of hook_thread_ignore */
    bool is_counter_forbidden;   /* of time: its gates go the slow way, where that is allowed meanwhile */
    _Atomic uint64_t busy_since; /* the epoch in which listeners were begun; 0: none run */
    struct ring_writer *writer;  /* NULL: it has no lane */
    uint32_t serial;             /* of all lanes that the thread has; 0: it has none */
    uint64_t recording;          /* for which recording the writer is */
    struct own_stack own_stack;
    struct call_data *free_data[CALL_DATA_SIZES];
    struct call_data_page *data_pages; /* all that it ever took */
    void *vectors;
    void *details;          /* free for whoever listens; NULL: none */
    struct invocation left; /* of which listeners are told right now, if it was found the slow way */
};

/*
 * Takes the memory; before any stub runs. -ENOMEM; -EOPNOTSUPP: not on this CPU. A second call only sets the options.
 */
MUST_USE int hook_threads_begin(const struct hook_threads_options *options);

/*
 * Gives all of it back. No stub runs any more, no thread is in one, all calls are forgotten (return_tracking_leave_all)
 * and no thread's base points here.
 */
void hook_threads_end(void);

/* Whether that base is one of ours: then the program's is 0. */
bool hook_thread_has_base(uint64_t base);

const struct hook_threads_options *hook_threads_options(void);

/*
 * The calling thread's state, made if need be. NULL: there is no memory for it. Signals are blocked. In a forked child
 * what the parent's other threads had is nobody's then, and *is_forked_out is true once.
 */
struct hook_thread *hook_thread_obtain(bool *is_forked_out);

/* The same if it has one already. Signal-safe. */
struct hook_thread *hook_thread_current(void);

/* All that there ever were, from 0 on; those that are nobody's too. NULL: there are no more. */
struct hook_thread *hook_thread_at(uint32_t index);

/* That of a thread that has one, by its id. NULL: none has. */
struct hook_thread *hook_thread_of(int tid);

/* Whoever looks at others' invocations holds this, so that none is given to another meanwhile. Signals are blocked. */
MUST_USE int hook_threads_lock(void);
void hook_threads_unlock(void);

/* Calls of hooked functions that this thread makes are not told, until as many calls of `listen`. */
void hook_thread_ignore(void);
void hook_thread_listen(void);

/* The same for all threads but this one, those to come included. -EBUSY: another thread does so. -ENOMEM. */
MUST_USE int hook_thread_ignore_others(void);
void hook_thread_listen_to_others(void);

/*
 * The calling thread is about to forbid itself to read the counter of time, or to allow it again (PR_SET_TSC); threads
 * and processes that it makes inherit that.
 */
void hook_thread_forbid_counter(bool is_forbidden);

/* Closes lanes of threads that have ended, and lets others have what was theirs. Any thread. */
void hook_threads_collect(void);

static inline void hook_thread_set_ignoring(struct hook_thread *thread, unsigned why, uint8_t value)
{
    atomic_store_explicit(&thread->ignoring_why[why], value, memory_order_relaxed);
}

static inline uint8_t hook_thread_ignoring(const struct hook_thread *thread, unsigned why)
{
    return atomic_load_explicit(&thread->ignoring_why[why], memory_order_relaxed);
}

static inline void hook_thread_forget_stack(struct hook_thread *thread)
{
    thread->own_stack = (struct own_stack){0};
    thread->own_bytes = 0;
}

/* Whether a place is on the stack that the thread began with, which is looked for if need be. The thread's own. */
bool hook_thread_is_on_own_stack(struct hook_thread *thread, uint64_t place);

/* Blocks all signals of the calling thread, and unblocks those that were not blocked. */
uint64_t hook_signals_block(void);
void hook_signals_unblock(uint64_t mask);

/* In arch/<cpu>/host: the register that points to a thread's state. */
uint64_t hook_thread_base_get(void);
void hook_thread_base_set(uint64_t base);

/* Whether a system call with that first argument asks for the base; the second one is where it is told then. */
bool hook_thread_base_is_asked(long number, long argument);

/* The thread pointer. */
uint64_t hook_thread_pointer(void);

#endif

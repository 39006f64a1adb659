/* SPDX-License-Identifier: MIT */
/*
 * A place in a list for each thread that is dispatched, which only that thread changes; places of threads that have
 * ended are taken again. No lock: signals may come at any time.
 */
#include "agent/dispatched_calls.h"

#include "arch/own_calls.h"
#include "base/counters.h"
#include "base/memory_functions.h"
#include "base/raw_syscall.h"
#include "process/call_dispatch.h"
#include "process/memory_probe.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/prctl.h>
#include <stdatomic.h>
#include <stddef.h>

#define THREADS_MAX  256u
#define MODE_OUTSIDE PR_SYS_DISPATCH_ON
#define MODE_UNKNOWN 0x7fff /* the kernel refuses it */
#define CHUNK_BYTES  1024u

struct dispatched_thread {
    _Atomic uint32_t tid; /* 0: the place is free */
    bool is_on;
    bool is_paused;
    uint64_t place;             /* where our calls are made for its sake; 0: in our image */
    struct call_dispatch asked; /* what the program wants; in the end, of the call that is under way: */
    struct call_dispatch next;
    uint64_t next_place;
    long set[4]; /* what the kernel was asked for: mode, start, size and selector, */
    long next_set[4];
};

static struct {
    uint64_t image_start;
    uint64_t image_bytes;
    bool has_stubs;
    atomic_bool are_used;
    _Atomic uint64_t place; /* where our calls are made by now; 0: in our image */
    struct dispatched_thread threads[THREADS_MAX];
} state;

void dispatched_calls_begin(uint64_t image_start, uint64_t image_bytes, bool has_stubs)
{
    state.image_start = image_start;
    state.image_bytes = image_bytes;
    state.has_stubs = has_stubs;
}

static void make_at(uint64_t place)
{
    (void)own_calls_make_at(place);
    atomic_store_explicit(&state.place, place, memory_order_relaxed);
}

void dispatched_calls_begin_in_child(void)
{
    for (unsigned i = 0; i < THREADS_MAX; i++)
        atomic_store_explicit(&state.threads[i].tid, 0, memory_order_relaxed);
    make_at(0);
}

bool dispatched_calls_are_used(void)
{
    return atomic_load_explicit(&state.are_used, memory_order_relaxed);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static struct dispatched_thread *find(uint32_t tid)
{
    for (unsigned i = 0; dispatched_calls_are_used() && i < THREADS_MAX; i++)
        if (atomic_load_explicit(&state.threads[i].tid, memory_order_relaxed) == tid)
            return &state.threads[i];
    return NULL;
}

static bool has_ended(uint32_t tid)
{
    long pid = raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0);

    return raw_syscall(__NR_tgkill, pid, tid, 0, 0, 0, 0) == -ESRCH;
}

/* Its place, or one that is nobody's, or was that of a thread that has ended. NULL: there is none. */
static struct dispatched_thread *obtain(uint32_t tid)
{
    struct dispatched_thread *thread = find(tid);

    atomic_store_explicit(&state.are_used, true, memory_order_relaxed);
    for (unsigned i = 0; thread == NULL && i < THREADS_MAX; i++) {
        uint32_t owner = atomic_load_explicit(&state.threads[i].tid, memory_order_relaxed);

        if ((owner == 0 || has_ended(owner)) && atomic_compare_exchange_strong(&state.threads[i].tid, &owner, tid)) {
            thread = &state.threads[i];
            thread->is_on = thread->is_paused = false;
        }
    }
    return thread;
}

/* Whether another thread needs our calls to be made elsewhere. */
static bool is_needed_otherwise(const struct dispatched_thread *self, uint64_t place)
{
    for (unsigned i = 0; i < THREADS_MAX; i++) {
        const struct dispatched_thread *other = &state.threads[i];
        uint32_t tid = atomic_load_explicit(&other->tid, memory_order_relaxed);

        if (other != self && tid != 0 && other->is_on && other->place != place && !has_ended(tid))
            return true;
    }
    return false;
}

/* ---- settings ---------------------------------------------------------------------------------------------------- */

static bool is_place(uint64_t place)
{
    uint8_t bytes[8];
    size_t count = place == 0 ? 0 : memory_probe_copy_some(place, bytes, sizeof(bytes));

    return own_calls_find_place(bytes, count) == 0;
}

/* An instruction in the range that our calls can be made by; 0: there is none. The last one is tried first. */
static uint64_t find_place(uint64_t start, uint64_t size)
{
    static _Atomic uint64_t last;
    uint64_t place = atomic_load_explicit(&last, memory_order_relaxed);
    uint8_t bytes[CHUNK_BYTES];

    if (place - start < size && size - (place - start) > sizeof(uint64_t) && is_place(place))
        return place;
    for (uint64_t done = 0; done < size;) {
        uint64_t rest = size - done;
        size_t count = memory_probe_copy_some(start + done, bytes, rest < CHUNK_BYTES ? rest : CHUNK_BYTES);
        size_t found = own_calls_find_place(bytes, count);

        if (found != SIZE_MAX) {
            place = start + done + found;
            atomic_store_explicit(&last, place, memory_order_relaxed);
            return place;
        }
        if (count < CHUNK_BYTES)
            return 0;
        /* It may begin in one piece and end in the next. */
        done += CHUNK_BYTES - sizeof(uint64_t);
    }
    return 0;
}

/* Changes what the kernel is asked for. False: it cannot be had. */
static bool change(struct dispatched_thread *thread, long *arguments)
{
    uint64_t start = (uint64_t)arguments[2], size = (uint64_t)arguments[3], place = 0;

    if (state.image_start - start < size && state.image_start + state.image_bytes - start <= size)
        return true;
    if (size != 0)
        place = find_place(start, size);
    if (place == 0 && size != 0 && !state.has_stubs)
        return false;
    if (place == 0) {
        arguments[2] = (long)state.image_start;
        arguments[3] = (long)state.image_bytes;
    }
    if (is_needed_otherwise(thread, place))
        return false;
    thread->next_place = place;
    if (place != 0)
        make_at(place);
    return true;
}

/* A range that ends where none can. The kernel says so itself. */
static bool is_wrong(const long *arguments)
{
    uint64_t start = (uint64_t)arguments[2], size = (uint64_t)arguments[3];

    return start != 0 && start + size <= start;
}

bool dispatched_calls_setting_begins(uint32_t tid, long number, long arguments[6])
{
    struct dispatched_thread *thread;

    if (!call_dispatch_is_set_by(number, arguments))
        return false;
    thread = obtain(tid);
    if (thread == NULL) {
        arguments[1] = arguments[1] == PR_SYS_DISPATCH_OFF ? PR_SYS_DISPATCH_OFF : MODE_UNKNOWN;
        return true;
    }
    thread->next = (struct call_dispatch){.mode = PR_SYS_DISPATCH_OFF};
    thread->next_place = 0;
    if (arguments[1] == PR_SYS_DISPATCH_OFF || (arguments[1] == MODE_OUTSIDE && is_wrong(arguments)))
        return true;
    thread->next = (struct call_dispatch){
        .mode = (uint32_t)arguments[1],
        .start = (uint64_t)arguments[2],
        .size = (uint64_t)arguments[3],
        .selector = (uint64_t)arguments[4],
    };
    /* What is asked for of a range alone would have to be asked of its stubs. */
    if (arguments[1] != MODE_OUTSIDE || !change(thread, arguments)) {
        counter_add(COUNTER_dispatches_refused, arguments[1] == MODE_OUTSIDE);
        arguments[1] = MODE_UNKNOWN;
    }
    __builtin_memcpy(thread->next_set, arguments + 1, sizeof(thread->next_set));
    return true;
}

static void release_if_off(struct dispatched_thread *thread)
{
    if (!thread->is_on)
        atomic_store_explicit(&thread->tid, 0, memory_order_release);
    if (state.place != 0 && !is_needed_otherwise(NULL, 0))
        make_at(0);
}

void dispatched_calls_setting_ends(uint32_t tid, long result)
{
    struct dispatched_thread *thread = find(tid);

    if (thread == NULL)
        return;
    if (result == 0) {
        thread->asked = thread->next;
        thread->place = thread->next_place;
        __builtin_memcpy(thread->set, thread->next_set, sizeof(thread->set));
        thread->is_on = thread->asked.mode != PR_SYS_DISPATCH_OFF;
        thread->is_paused = false;
    }
    release_if_off(thread);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

enum dispatched_call dispatched_calls_ask(uint32_t tid, uint64_t pc, uint64_t next)
{
    struct dispatched_thread *thread = find(tid);
    struct call_dispatch without_range;

    if (thread == NULL || !thread->is_on)
        return DISPATCHED_CALL_PASSES;
    if (call_dispatch_ask(&thread->asked, pc, next) != CALL_PASSES)
        return DISPATCHED_CALL_IS_HELD;
    without_range = thread->asked;
    without_range.size = 0;
    return call_dispatch_ask(&without_range, pc, next) == CALL_PASSES ? DISPATCHED_CALL_PASSES
                                                                      : DISPATCHED_CALL_IS_APART;
}

bool dispatched_calls_hold_return(uint32_t tid, uint64_t address)
{
    const struct dispatched_thread *thread = find(tid);

    return thread != NULL && thread->is_on && thread->asked.size != 0 && thread->place == 0 &&
           address - thread->asked.start < thread->asked.size;
}

bool dispatched_calls_asked(uint32_t tid, struct call_dispatch *asked_out)
{
    const struct dispatched_thread *thread = find(tid);

    if (thread == NULL || !thread->is_on)
        return false;
    *asked_out = thread->asked;
    return true;
}

bool dispatched_calls_pause(uint32_t tid)
{
    struct dispatched_thread *thread = find(tid);

    if (thread == NULL || !thread->is_on || thread->is_paused)
        return false;
    (void)raw_syscall(__NR_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0, 0);
    thread->is_paused = true;
    return true;
}

bool dispatched_calls_resume(uint32_t tid)
{
    struct dispatched_thread *thread = find(tid);

    if (thread == NULL || !thread->is_paused)
        return false;
    thread->is_paused = false;
    (void)raw_syscall(__NR_prctl, PR_SET_SYSCALL_USER_DISPATCH, thread->set[0], thread->set[1], thread->set[2],
                      thread->set[3], 0);
    return true;
}

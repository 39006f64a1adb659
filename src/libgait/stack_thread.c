/* SPDX-License-Identifier: MIT */
/*
 * The lock is that of the modules: under it the modules are made, and threads come and go. A signal handler that takes
 * a stack never waits for it: it has a thread that is ready, or gets an error.
 */
#include "libgait/stack_thread.h"

#include "arch/arch.h"
#include "base/memory_map.h"
#include "hosted/system_clock.h"
#include "libgait/stack_modules.h"
#include "process/thread_list.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

/* Looking for modules needs some stack. */
#define REFRESH_STACK_BYTES (32u << 10)
#define REFRESH_INTERVAL_NS 100000000u
/* So many times as long as it takes, it is not done again: at most that part of the time goes there. */
#define REFRESH_TIME_SHARE 20u

__thread struct stack_thread *stack_thread_current __attribute__((tls_model("initial-exec")));
struct unwind_modules stack_modules;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int once_result;
static bool has_key;
static _Atomic uint64_t next_refresh_ns;

/* ---- coming and going -------------------------------------------------------------------------------------------- */

static void end_thread(void *value)
{
    struct stack_thread *thread = value;

    /* From here on a signal handler gets an error. */
    stack_thread_current = STACK_THREAD_ENDED;
    atomic_signal_fence(memory_order_seq_cst);
    unwind_modules_remove_reader(&stack_modules, &thread->walker.reader);
    memory_unmap(thread, sizeof(*thread));
}

static void before_fork(void) NO_THREAD_SAFETY_ANALYSIS
{
    mutex_lock(&stack_modules.lock);
}

static void after_fork(void) NO_THREAD_SAFETY_ANALYSIS
{
    mutex_unlock(&stack_modules.lock);
}

/* Of all threads only this one is left, with another number. What the others had stays where it is. */
static void in_child(void) NO_THREAD_SAFETY_ANALYSIS
{
    list_init(&stack_modules.readers);
    if (stack_thread_current >= STACK_THREAD_STATES) {
        list_add_last(&stack_modules.readers, &stack_thread_current->walker.reader.node);
        stack_thread_current->tid = thread_current();
    }
    mutex_unlock(&stack_modules.lock);
}

/* A library that is unloaded must not be called by threads that end later. */
static __attribute__((destructor)) void end_all(void)
{
    if (has_key)
        pthread_key_delete(key);
}

static void begin_all(void)
{
    const struct arch *arch = arch_host();

    if (arch == NULL || arch->frame_registers.general == NULL) {
        once_result = -ENOSYS;
        return;
    }
    once_result = unwind_modules_init(&stack_modules, &arch->frame_registers);
    if (once_result == 0)
        unwind_modules_set_hooked(&stack_modules, &stack_hooked_frames);
    has_key = once_result == 0 && pthread_key_create(&key, end_thread) == 0;
    if (once_result == 0 && (!has_key || pthread_atfork(before_fork, after_fork, in_child) != 0))
        once_result = -ENOMEM;
    /* Without /proc there are none, and frame pointers are all there is. */
    if (once_result == 0)
        (void)!unwind_modules_refresh(&stack_modules, true);
}

static int make_thread(struct stack_thread **thread_out)
{
    struct stack_thread *thread;
    void *storage;
    int result;

    pthread_once(&once, begin_all);
    if (once_result != 0)
        return once_result;
    result = memory_map(sizeof(*thread), &storage);
    if (result != 0)
        return result;
    thread = storage;
    /* First: what another thread had there was given back before it gave up the lock that this takes. */
    unwind_modules_add_reader(&stack_modules, &thread->walker.reader);
    thread->tid = thread_current();
    stack_walker_init(&thread->walker, (uintptr_t)__builtin_frame_address(0), (uintptr_t)__builtin_thread_pointer(),
                      thread->tid == getpid());
    if (pthread_setspecific(key, thread) != 0) {
        unwind_modules_remove_reader(&stack_modules, &thread->walker.reader);
        memory_unmap(thread, sizeof(*thread));
        return -ENOMEM;
    }
    *thread_out = thread;
    return 0;
}

int stack_thread_begin(void)
{
    struct stack_thread *thread = STACK_THREAD_NONE;
    int result;

    if (stack_thread_current == STACK_THREAD_BUSY)
        return -EBUSY;
    if (stack_thread_current == STACK_THREAD_ENDED)
        return -ESRCH;
    if (stack_thread_current != STACK_THREAD_NONE)
        return 0;
    stack_thread_current = STACK_THREAD_BUSY;
    atomic_signal_fence(memory_order_seq_cst);
    result = make_thread(&thread);
    atomic_signal_fence(memory_order_seq_cst);
    stack_thread_current = thread;
    return result;
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

int stack_thread_refresh(void)
{
    pthread_once(&once, begin_all);
    return once_result != 0 ? once_result : unwind_modules_refresh(&stack_modules, true);
}

/* Whether there is enough stack left; of other stacks than the thread's own nobody knows. */
static bool has_room(const struct stack_walker *walker)
{
    uint64_t sp = (uintptr_t)__builtin_frame_address(0);

    return sp >= walker->own.low && sp < walker->own.high &&
           (walker->may_grow || sp - walker->own.low > REFRESH_STACK_BYTES);
}

bool stack_thread_found_unknown(struct stack_thread *thread)
{
    uint64_t next_ns = atomic_load_explicit(&next_refresh_ns, memory_order_relaxed),
             start_ns = system_clock_ns(CLOCK_MONOTONIC), took_ns;
    int result;

    if (start_ns < next_ns || !has_room(&thread->walker))
        return false;
    if (!atomic_compare_exchange_strong_explicit(&next_refresh_ns, &next_ns, start_ns + REFRESH_INTERVAL_NS,
                                                 memory_order_relaxed, memory_order_relaxed))
        return false;
    result = unwind_modules_refresh(&stack_modules, false);
    took_ns = system_clock_ns(CLOCK_MONOTONIC) - start_ns;
    if (took_ns * REFRESH_TIME_SHARE > REFRESH_INTERVAL_NS)
        atomic_store_explicit(&next_refresh_ns, start_ns + took_ns * REFRESH_TIME_SHARE, memory_order_relaxed);
    return result == 0;
}

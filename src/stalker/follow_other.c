/* SPDX-License-Identifier: MIT */
/*
 * The other thread is stopped, its registers are turned from the program's into those of the cache's entrance, or back,
 * and it goes on. Back is possible where the trail tells how: in hot code. In cold code and in the gates a thread stays
 * only for some instructions, so it is let go and met again.
 *
 * All locks that the stopped thread might have are taken before it is stopped: so it has none.
 */
#include "stalker/follow_other.h"

#include "arch/engine.h"
#include "arch/thread_registers.h"
#include "base/raw_syscall.h"
#include "process/thread_stop.h"
#include "stalker/dispatch.h"
#include "stalker/event_buffer.h"
#include "stalker/signal_actions.h"
#include "stalker/signal_frame.h"
#include "stalker/stalker_gate.h"
#include "stalker/thread.h"
#include "stalker/thread_visit.h"
#include "stalker/trail.h"

#include <asm/errno.h>
#include <asm/unistd.h>

/* How often a thread that is between two places is met again; a millisecond apart after the first few. */
#define TRIES_MAX      2000
#define TRIES_AT_ONCE  20
#define NANOSECONDS_MS 1000000
#define OTHERS_MET_MAX 1024

/* There signals are blocked: a trap behind each instruction would be the end. */
static void enter_gate(struct gait_cpu_context *cpu)
{
    cpu->pc = (uintptr_t)stalker_gate_begin;
    engine_host()->frame->end_steps(cpu);
}

/* Called under the engine's lock, by try_follow. */
NO_THREAD_SAFETY_ANALYSIS static int begin(void *context, struct thread_registers *registers)
{
    struct stalker_thread *thread = context;
    struct gait_cpu_context entrance;

    if (thread_visit_holds(thread->engine, thread->tid, registers))
        return -EAGAIN;
    thread_registers_take_restart(registers);
    thread->engine->machine->registers->get(registers, &entrance, &thread->thread_base);
    /* It has not quite left the last time. */
    if (stalker_thread_is_on_stack(thread, gait_cpu_stack_pointer(&entrance)))
        return -EAGAIN;
    thread->context = entrance;
    interrupted_call_note(thread, registers);
    enter_gate(&entrance);
    thread->engine->machine->registers->set(registers, &entrance, thread->self);
    return 0;
}

static void wait_a_little(unsigned try)
{
    struct {
        long seconds, nanoseconds;
    } time = {0, NANOSECONDS_MS};

    if (try >= TRIES_AT_ONCE)
        raw_syscall(__NR_nanosleep, (long)&time, 0, 0, 0, 0, 0);
    else
        raw_syscall(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
}

/* Whether a thread that was followed before is out of the engine; its struct is used again only then. */
NO_THREAD_SAFETY_ANALYSIS static int look_whether_out(void *context, struct thread_registers *registers)
{
    const struct stalker_thread *thread = context;

    return thread_visit_holds(thread->engine, thread->tid, registers) ? -EAGAIN : 1;
}

/* -EAGAIN: it is not yet. */
static int check_out(struct stalker_engine *engine, int tid) REQUIRES(engine->lock)
{
    LIST_FOR_EACH (node, &engine->parked) {
        struct stalker_thread *thread = LIST_ELEMENT(node, struct stalker_thread, node);

        if (thread->tid == tid)
            return thread_modify(tid, look_whether_out, thread);
    }
    return 0;
}

/* It does not come. */
static void cancel(struct stalker_thread *thread) REQUIRES(thread->engine->lock)
{
    atomic_store_explicit(&thread->is_expected, false, memory_order_relaxed);
    stalker_follow_cancel(thread);
}

/* Meets the thread once. -EAGAIN: what it is doing is not the program's: it has to be met again. */
static int try_follow(struct stalker_engine *engine, int tid, const struct follow_request *request)
    REQUIRES(engine->lock)
{
    struct stalker_thread *thread;
    int result = check_out(engine, tid);

    if (result == 0)
        result = stalker_follow_create(engine, tid, request, &thread);
    if (result != 0)
        return result;
    /* It may be there before we know that it is on its way. */
    atomic_store_explicit(&thread->is_expected, true, memory_order_relaxed);
    result = thread_modify(tid, begin, thread);
    if (result != 0)
        cancel(thread);
    return result;
}

int stalker_follow_other(struct stalker_engine *engine, int tid, const struct follow_request *request)
{
    int result = -EAGAIN;

    /*
     * A signal that is under way to the thread comes before it can see to that itself. Whoever leaves meanwhile,
     * perhaps this very thread, must not put back what the program has.
     */
    signal_actions_acquire();
    signal_actions_take();
    for (unsigned try = 0; result == -EAGAIN && try < TRIES_MAX; try++) {
        if (try > 0)
            wait_a_little(try);
        mutex_lock(&engine->lock);
        result = try_follow(engine, tid, request);
        mutex_unlock(&engine->lock);
    }
    if (result != 0)
        signal_actions_release();
    return result;
}

/* A thread, and the cache that it was in when the locks were taken. */
struct meeting {
    struct stalker_thread *thread;
    struct code_cache *cache;
};

/* The program's state, of a stopped thread that is in the cache or tries what is no code. */
static bool find_program(struct stalker_thread *thread, struct gait_cpu_context *cpu)
{
    struct code_place place;

    if (!thread->is_trying || stalker_thread_is_on_stack(thread, gait_cpu_stack_pointer(cpu)))
        return code_cache_place_at(thread->cache, cache_pc_of(cpu->pc), &place) &&
               trail_recover(thread, &place, cpu) == 0;
    (void)stalker_gate_recover(thread, cpu);
    thread->behind.cache_pc = 0;
    return true;
}

static int enter_engine(void *context, struct thread_registers *registers)
{
    const struct meeting *meeting = context;
    struct stalker_thread *thread = meeting->thread;
    const struct engine *machine = thread->engine->machine;
    struct gait_cpu_context cpu, entrance;
    uint64_t thread_base;

    thread_registers_take_restart(registers);
    machine->registers->get(registers, &cpu, &thread_base);
    /* It changed to another cache before it was stopped: that one's lock was not taken. */
    if (thread->cache != meeting->cache)
        return -EAGAIN;
    entrance = cpu;
    thread->sent_from = cpu.pc;
    if (!find_program(thread, &cpu))
        return -EAGAIN;
    event_write_cut(thread);
    thread->context = cpu;
    interrupted_call_note(thread, registers);
    thread->reason = callout_done_leave(thread) ? STALKER_BEHIND : STALKER_ENTER;
    enter_gate(&entrance);
    machine->registers->set(registers, &entrance, thread->self);
    return 0;
}

int stalker_bring_in(struct stalker_thread *thread)
{
    struct meeting meeting = {thread, __atomic_load_n(&thread->cache, __ATOMIC_RELAXED)};
    int result;

    mutex_lock(&meeting.cache->lock);
    result = thread_modify(thread->tid, enter_engine, &meeting);
    mutex_unlock(&meeting.cache->lock);
    return result;
}

/*
 * Meets the thread once. It leaves by way of the engine, which has to take back what the thread's kernel side has of
 * ours. -EINPROGRESS: it is on its way out; -EAGAIN: it was where it cannot be taken out.
 */
static int try_unfollow(struct stalker_engine *engine, int tid)
{
    struct stalker_thread *thread;
    int result;

    mutex_lock(&engine->lock);
    thread = stalker_thread_find(engine, tid);
    if (thread == NULL) {
        mutex_unlock(&engine->lock);
        return -ESRCH;
    }
    atomic_fetch_or_explicit(&thread->requests, STALKER_REQUEST_UNFOLLOW, memory_order_relaxed);
    result = stalker_bring_in(thread);
    if (result == -ESRCH)
        stalker_follow_end(thread);
    mutex_unlock(&engine->lock);
    if (result == -ESRCH)
        return 0;
    return result == 0 ? -EINPROGRESS : result;
}

int stalker_unfollow_other(struct stalker_engine *engine, int tid)
{
    int result = try_unfollow(engine, tid);

    for (unsigned try = 0; (result == -EAGAIN || result == -EINPROGRESS) && try < TRIES_MAX; try++) {
        wait_a_little(try);
        if (result == -EINPROGRESS && stalker_is_following(engine, tid))
            continue;
        result = try_unfollow(engine, tid);
        /* It left by itself. */
        if (result == -ESRCH)
            return 0;
    }
    return result;
}

/* Asks all of them; and those to meet, as many as fit. */
static unsigned ask_to_leave(struct stalker_engine *engine, int *tids_out)
{
    unsigned count = 0;

    mutex_lock(&engine->lock);
    LIST_FOR_EACH (node, &engine->threads) {
        struct stalker_thread *thread = LIST_ELEMENT(node, struct stalker_thread, node);

        atomic_fetch_or_explicit(&thread->requests, STALKER_REQUEST_UNFOLLOW, memory_order_relaxed);
        if (thread->tid != stalker_current_tid() && thread->tid != 0 && count < OTHERS_MET_MAX)
            tids_out[count++] = thread->tid;
    }
    mutex_unlock(&engine->lock);
    return count;
}

void stalker_unfollow_others(struct stalker_engine *engine)
{
    int tids[OTHERS_MET_MAX];
    unsigned count = ask_to_leave(engine, tids);

    for (unsigned i = 0; i < count; i++)
        (void)!stalker_unfollow_other(engine, tids[i]);
}

/* ---- threads that somebody else has stopped ---------------------------------------------------------------------- */

int stalker_follow_stopped(struct stalker_engine *engine, int tid, const struct follow_request *request,
                           struct thread_registers *registers)
{
    struct stalker_thread *thread;
    int result;

    if (!mutex_try_lock(&engine->lock))
        return -EAGAIN;
    signal_actions_acquire();
    if (request->is_whole)
        signal_actions_take_new();
    else
        signal_actions_take();
    result = stalker_follow_create(engine, tid, request, &thread);
    if (result == 0) {
        atomic_store_explicit(&thread->is_expected, true, memory_order_relaxed);
        result = begin(thread, registers);
        if (result != 0)
            cancel(thread);
    }
    if (result != 0)
        signal_actions_release();
    mutex_unlock(&engine->lock);
    return result;
}

/* The cache's lock is taken if nobody has it. */
static int bring_in_stopped(struct stalker_thread *thread, struct thread_registers *registers)
{
    struct meeting meeting = {thread, __atomic_load_n(&thread->cache, __ATOMIC_RELAXED)};
    int result;

    if (!mutex_try_lock(&meeting.cache->lock))
        return -EAGAIN;
    result = enter_engine(&meeting, registers);
    mutex_unlock(&meeting.cache->lock);
    return result;
}

int stalker_unfollow_stopped(struct stalker_engine *engine, int tid, struct thread_registers *registers)
{
    struct stalker_thread *thread;
    int result = -ESRCH;

    if (!mutex_try_lock(&engine->lock))
        return -EAGAIN;
    thread = stalker_thread_find(engine, tid);
    if (thread != NULL) {
        atomic_fetch_or_explicit(&thread->requests, STALKER_REQUEST_UNFOLLOW, memory_order_relaxed);
        result = bring_in_stopped(thread, registers);
    }
    mutex_unlock(&engine->lock);
    return result;
}

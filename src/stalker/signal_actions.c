/* SPDX-License-Identifier: MIT */
/*
 * A slot for each signal. Invariant: before our handler is in place for a signal, its slot has the program's action;
 * slots are not cleared, since our handler may be on its way when the program takes its own away. Writers have the lock
 * and block all signals, so that a reader, who waits for a writer to finish, never waits for its own thread.
 */
#include "stalker/signal_actions.h"

#include "base/mutex.h"
#include "base/raw_syscall.h"
#include "stalker/program_memory.h"
#include "stalker/signal_frame.h"
#include "stalker/system_call.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/signal.h>
#include <stdatomic.h>
#include <stddef.h>

#define HANDLER_DEFAULT 0
#define HANDLER_IGNORE  1
#define FLAG_RESTORER   0x04000000u

struct slot {
    _Atomic uint32_t version;                        /* odd: it is being written */
    _Atomic uint64_t handler, flags, restorer, mask; /* as in struct signal_action */
};

static struct slot slots[SIGNAL_COUNT + 1];
static struct mutex actions_lock;

/* Strict mode, of which SIGSYS tells, is for good. */
static bool takes_traps;
static unsigned user_count;

/* The program has run nothing since all was taken. */
static bool is_new;

static const struct signal_watcher *_Atomic watcher_now;

static const struct signal_watcher *watcher_of_process(void)
{
    return atomic_load_explicit(&watcher_now, memory_order_acquire);
}

/* Whether our handler stands in for the default action of a signal. */
static bool is_deadly(int signal)
{
    const struct signal_watcher *watcher = watcher_of_process();

    return watcher != NULL && watcher->deadly >> (signal - 1) & 1;
}

uint64_t signal_mask_set(uint64_t mask)
{
    uint64_t before = 0;

    raw_syscall(__NR_rt_sigprocmask, SIG_SETMASK, (long)&mask, (long)&before, SIGNAL_MASK_BYTES, 0, 0);
    return before;
}

static long change(int signal, const struct signal_action *action, struct signal_action *before_out)
{
    return raw_syscall(__NR_rt_sigaction, signal, (long)action, (long)before_out, SIGNAL_MASK_BYTES, 0, 0);
}

static bool is_function(const struct signal_action *action)
{
    return action->handler != HANDLER_DEFAULT && action->handler != HANDLER_IGNORE;
}

static bool is_ours(const struct signal_action *action)
{
    return action->handler == (uintptr_t)stalker_signal_entry;
}

/* Where ours is to stand: for a handler, and where somebody wants to know what ends the process. */
static bool is_for_us(int signal, const struct signal_action *action)
{
    return is_function(action) || (signal == SIGSYS && takes_traps) ||
           (action->handler == HANDLER_DEFAULT && is_deadly(signal));
}

static void write_slot(struct slot *slot, const struct signal_action *action)
{
    uint32_t version = atomic_load_explicit(&slot->version, memory_order_relaxed);

    atomic_store_explicit(&slot->version, version + 1, memory_order_relaxed);
    /* Release: who reads one of these, by the acquire in signal_actions_get, sees that the version is odd or newer. */
    atomic_store_explicit(&slot->handler, action->handler, memory_order_release);
    atomic_store_explicit(&slot->flags, action->flags, memory_order_release);
    atomic_store_explicit(&slot->restorer, action->restorer, memory_order_release);
    atomic_store_explicit(&slot->mask, action->mask, memory_order_release);
    /* Release: pairs with the acquire of the version in signal_actions_get. */
    atomic_store_explicit(&slot->version, version + 2, memory_order_release);
}

struct signal_action signal_actions_get(int signal)
{
    const struct slot *slot = &slots[signal];
    struct signal_action action;
    uint32_t version;

    do {
        version = atomic_load_explicit(&slot->version, memory_order_acquire);
        action = (struct signal_action){
            .handler = atomic_load_explicit(&slot->handler, memory_order_acquire),
            .flags = atomic_load_explicit(&slot->flags, memory_order_acquire),
            .restorer = atomic_load_explicit(&slot->restorer, memory_order_acquire),
            .mask = atomic_load_explicit(&slot->mask, memory_order_acquire),
        };
    } while (version % 2 != 0 || version != atomic_load_explicit(&slot->version, memory_order_relaxed));
    return action;
}

uint64_t signal_action_restorer(const struct signal_action *action)
{
    return action->flags & FLAG_RESTORER ? action->restorer : (uintptr_t)stalker_signal_restorer;
}

/* Ours behaves like the program's, but that it has the stack of its choice, and is not taken away by its first signal.
 */
static long put_ours(int signal, const struct signal_action *action)
{
    struct signal_action ours = {
        .handler = (uintptr_t)stalker_signal_entry,
        .flags = (action->flags & ~(uint64_t)(unsigned)SA_RESETHAND) | SA_SIGINFO | SA_ONSTACK | FLAG_RESTORER,
        .restorer = signal_action_restorer(action),
        .mask = action->mask,
    };

    write_slot(&slots[signal], action);
    return change(signal, &ours, NULL);
}

static void take(int signal) REQUIRES(actions_lock)
{
    struct signal_action action;

    if (change(signal, NULL, &action) == 0 && is_for_us(signal, &action) && !is_ours(&action))
        put_ours(signal, &action);
}

/* A program that has yet to begin has no handlers: there is nothing to ask where the end is not watched. */
static void take_new(int signal) REQUIRES(actions_lock)
{
    if (is_deadly(signal) || (signal == SIGSYS && takes_traps))
        take(signal);
}

static bool was_taken(int signal)
{
    return atomic_load_explicit(&slots[signal].version, memory_order_relaxed) != 0;
}

static void put_back(int signal) REQUIRES(actions_lock)
{
    struct signal_action action, program = signal_actions_get(signal);

    if (was_taken(signal) && change(signal, NULL, &action) == 0 && is_ours(&action))
        change(signal, &program, NULL);
}

static void for_each(void (*function)(int signal)) REQUIRES(actions_lock)
{
    for (int signal = 1; signal <= SIGNAL_COUNT; signal++)
        function(signal);
}

void signal_actions_take_traps(void)
{
    takes_traps = true;
    is_new = false;
    signal_actions_take();
}

void signal_actions_acquire(void)
{
    mutex_lock(&actions_lock);
    user_count++;
    mutex_unlock(&actions_lock);
}

void signal_actions_release(void)
{
    uint64_t mask = signal_mask_set(SIGNAL_MASK_ALL);

    mutex_lock(&actions_lock);
    if (--user_count == 0) {
        for_each(put_back);
        is_new = false;
    }
    mutex_unlock(&actions_lock);
    signal_mask_set(mask);
}

void signal_actions_take(void)
{
    uint64_t mask = signal_mask_set(SIGNAL_MASK_ALL);

    mutex_lock(&actions_lock);
    if (!is_new)
        for_each(take);
    is_new = false;
    mutex_unlock(&actions_lock);
    signal_mask_set(mask);
}

void signal_actions_take_new(void)
{
    uint64_t mask = signal_mask_set(SIGNAL_MASK_ALL);

    mutex_lock(&actions_lock);
    for_each(take_new);
    is_new = true;
    mutex_unlock(&actions_lock);
    signal_mask_set(mask);
}

void signal_actions_reset(int signal)
{
    static const struct signal_action nothing = {.handler = HANDLER_DEFAULT};

    change(signal, &nothing, NULL);
}

void signal_actions_use_up(int signal)
{
    static const struct signal_action nothing = {.handler = HANDLER_DEFAULT};
    /* Whoever has the lock blocks all signals, so the thread that was interrupted has not. */
    uint64_t mask = signal_mask_set(SIGNAL_MASK_ALL);

    mutex_lock(&actions_lock);
    if (is_for_us(signal, &nothing))
        put_ours(signal, &nothing);
    else
        signal_actions_reset(signal);
    mutex_unlock(&actions_lock);
    signal_mask_set(mask);
}

bool signal_action_is_default(const struct signal_action *action)
{
    return action->handler == HANDLER_DEFAULT;
}

bool signal_is_ignored(int signal)
{
    struct signal_action action;

    return change(signal, NULL, &action) == 0 && action.handler == (uintptr_t)SIG_IGN;
}

static long set(int signal, const struct signal_action *new, struct signal_action *old_out) REQUIRES(actions_lock)
{
    long result = change(signal, NULL, old_out);

    if (result != 0)
        return result;
    if (is_ours(old_out))
        *old_out = signal_actions_get(signal);
    if (new == NULL || is_ours(new))
        return 0;
    return is_for_us(signal, new) ? put_ours(signal, new) : change(signal, new, NULL);
}

/* The kernel says itself what is wrong with the rest. */
static bool can_be_ours(const struct system_call *call)
{
    long signal = call->arguments[0];

    return call->arguments[3] == SIGNAL_MASK_BYTES && signal >= 1 && signal <= SIGNAL_COUNT && signal != SIGKILL &&
           signal != SIGSTOP;
}

long signal_actions_call(const struct system_call *call)
{
    uint64_t wanted = (uint64_t)call->arguments[1], old = (uint64_t)call->arguments[2], mask;
    struct signal_action new, before;
    long result;

    if (!can_be_ours(call))
        return raw_syscall(call->number, call->arguments[0], call->arguments[1], call->arguments[2], call->arguments[3],
                           0, 0);
    if (wanted != 0) {
        if (!program_memory_is_readable(wanted, sizeof(new)))
            return -EFAULT;
        new = *(const struct signal_action *)(uintptr_t)wanted;
    }
    mask = signal_mask_set(SIGNAL_MASK_ALL);
    mutex_lock(&actions_lock);
    result = set((int)call->arguments[0], wanted == 0 ? NULL : &new, &before);
    mutex_unlock(&actions_lock);
    signal_mask_set(mask);
    if (result != 0 || old == 0)
        return result;
    if (!program_memory_make_writable(old, sizeof(before)))
        return -EFAULT;
    *(struct signal_action *)(uintptr_t)old = before;
    return 0;
}

NO_THREAD_SAFETY_ANALYSIS void signal_actions_lock(void)
{
    mutex_lock(&actions_lock);
}

NO_THREAD_SAFETY_ANALYSIS void signal_actions_unlock(void)
{
    mutex_unlock(&actions_lock);
}

/* ---- signals that are watched ------------------------------------------------------------------------------------ */

void signal_watch_set(const struct signal_watcher *watcher)
{
    /* Release: pairs with the acquire in watcher_of_process. */
    atomic_store_explicit(&watcher_now, watcher, memory_order_release);
}

void signal_watch_delivered(int signal)
{
    const struct signal_watcher *watcher = watcher_of_process();

    if (watcher != NULL && watcher->delivered != NULL)
        watcher->delivered(signal);
}

void signal_watch_dying(const struct signal_death *death)
{
    const struct signal_watcher *watcher = watcher_of_process();

    if (watcher != NULL && watcher->dying != NULL)
        watcher->dying(death);
}

/* SPDX-License-Identifier: MIT */
/*
 * Breakpoints of the CPU are kept in a table that never goes away, so that a signal which comes late finds nothing
 * rather than something else: the tag that it brings names a place in the table, and how often that was used before.
 * Setting and removing takes the lock; a handler takes none. Whoever removes one waits for a handler that runs on
 * another thread: there is at most one, since a breakpoint is one thread's.
 */
#include "arch/engine.h"
#include "base/mutex.h"
#include "gait/process.h"
#include "hosted/error_text.h"
#include "libgait/export.h"
#include "libgait/options.h"
#include "process/hardware_breakpoint.h"
#include "process/thread_list.h"
#include "stalker/signal_frame.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define BREAKPOINTS_MAX 256u
#define TAG_MARK        ((uint64_t)0x67616974 << 32)
#define TAG_MARK_MASK   ((uint64_t)0xffffffff << 32)
#define USES_MASK       0xffffu
#define HANDLER_WAIT_US 200u

struct gait_breakpoint {
    struct gait_breakpoint_options options;
    int fd;
    bool is_set;             /* under the lock */
    _Atomic uint32_t uses;   /* odd: it is set; another one each time that it is set or removed */
    _Atomic uint32_t is_hit; /* its function is being called */
};

static const struct options_type options_type = {
    "set a breakpoint",
    "gait_breakpoint_options",
    sizeof(struct gait_breakpoint_options),
};

static struct mutex lock;
static struct gait_breakpoint breakpoints[BREAKPOINTS_MAX];
static struct sigaction handler_before;
static bool is_handled;

static uint64_t tag_of(const struct gait_breakpoint *breakpoint, uint32_t uses)
{
    return TAG_MARK | (uses & USES_MASK) << 16 | (uint64_t)(breakpoint - breakpoints);
}

/* ---- being hit --------------------------------------------------------------------------------------------------- */

static void call_before(int number, siginfo_t *info, void *ucontext)
{
    if (handler_before.sa_flags & SA_SIGINFO) {
        handler_before.sa_sigaction(number, info, ucontext);
    } else if (handler_before.sa_handler == SIG_DFL) {
        /* It ends the program when this handler returns. */
        signal(number, SIG_DFL);
        raise(number);
    } else if (handler_before.sa_handler != SIG_IGN) {
        handler_before.sa_handler(number);
    }
}

static void call_hit(struct gait_breakpoint *breakpoint, uint64_t tag, uint64_t address, void *ucontext)
{
    struct gait_cpu_context cpu;
    const struct gait_breakpoint_hit hit = {
        .size_bytes = sizeof(hit),
        .breakpoint = breakpoint,
        .address = address,
        .cpu = &cpu,
        .tid = thread_current(),
    };

    /* Sequentially consistent, as in gait_breakpoint_remove: either it sees that this runs, or this that it is gone. */
    atomic_store(&breakpoint->is_hit, 1);
    if (tag_of(breakpoint, atomic_load(&breakpoint->uses)) == tag) {
        signal_frame_get(ucontext, &cpu);
        breakpoint->options.hit(&hit, breakpoint->options.data);
        signal_frame_set(ucontext, &cpu);
    }
    atomic_store(&breakpoint->is_hit, 0);
}

static void handle_trap(int number, siginfo_t *info, void *ucontext)
{
    int error_number = errno;
    uint64_t tag, address;

    if (!hardware_breakpoint_of_signal(info, &tag, &address) || (tag & TAG_MARK_MASK) != TAG_MARK ||
        (tag & USES_MASK) >= BREAKPOINTS_MAX)
        call_before(number, info, ucontext);
    else
        call_hit(&breakpoints[tag & USES_MASK], tag, address, ucontext);
    errno = error_number;
}

static int handle_traps(void) REQUIRES(lock)
{
    struct sigaction action = {.sa_sigaction = handle_trap, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

    if (is_handled)
        return 0;
    /* Before ours can be called, so that it always finds it. */
    if (sigaction(SIGTRAP, NULL, &handler_before) != 0 || sigaction(SIGTRAP, &action, NULL) != 0)
        return -errno;
    is_handled = true;
    return 0;
}

/* ---- setting and removing ---------------------------------------------------------------------------------------- */

static int set_failed(int result, const struct gait_breakpoint_options *options, struct gait_error *err)
{
    unsigned long long address = options->address;

    switch (result) {
    case -EINVAL:
        return error_set(err, result,
                         "cannot set a breakpoint at 0x%llx: memory is watched in pieces of 1, 2, 4 or 8 bytes that "
                         "begin at a multiple of their size, instructions with watched_bytes 0",
                         address);
    case -ENOSPC:
        return error_set(err, result,
                         "cannot set a breakpoint at 0x%llx: the CPU has no more of them for thread %d; remove one",
                         address, options->tid);
    case -ESRCH:
        return error_set(err, result, "cannot set a breakpoint: this process has no thread %d", options->tid);
    case -EACCES:
    case -EPERM:
        return error_set(err, result,
                         "cannot set a breakpoint at 0x%llx: the system forbids it; see the kernel's "
                         "kernel.perf_event_paranoid, which must not be above 2",
                         address);
    case -EOPNOTSUPP:
        return error_set(err, result,
                         "cannot set a breakpoint at 0x%llx: this needs Linux 5.13 or newer and a CPU, or virtual "
                         "machine, that has breakpoints",
                         address);
    default:
        return error_set(err, result, "cannot set a breakpoint at 0x%llx: %s", address, strerror(-result));
    }
}

static struct gait_breakpoint *find_free(void) REQUIRES(lock)
{
    for (unsigned i = 0; i < BREAKPOINTS_MAX; i++)
        if (!breakpoints[i].is_set)
            return &breakpoints[i];
    return NULL;
}

static int set_locked(const struct gait_breakpoint_options *options, struct gait_breakpoint **breakpoint_out)
    REQUIRES(lock)
{
    static const enum hardware_breakpoint_kind kinds[] = {HARDWARE_EXECUTE, HARDWARE_WRITE, HARDWARE_ACCESS};
    struct gait_breakpoint *breakpoint = find_free();
    struct hardware_breakpoint hardware = {
        .tid = options->tid,
        .kind = kinds[options->kind],
        .address = options->address,
        .size_bytes = options->watched_bytes <= 8 ? (unsigned)options->watched_bytes : 16,
    };
    uint32_t uses;
    int result;

    if (breakpoint == NULL)
        return -ENOSPC;
    if (!thread_exists(options->tid))
        return -ESRCH;
    result = handle_traps();
    if (result != 0)
        return result;
    uses = atomic_load_explicit(&breakpoint->uses, memory_order_relaxed) + 1;
    hardware.tag = tag_of(breakpoint, uses);
    breakpoint->options = *options;
    atomic_store(&breakpoint->uses, uses);
    result = hardware_breakpoint_set(&hardware, &breakpoint->fd);
    if (result != 0) {
        atomic_store(&breakpoint->uses, uses + 1);
        return result;
    }
    breakpoint->is_set = true;
    *breakpoint_out = breakpoint;
    return 0;
}

EXPORT int gait_breakpoint_set(const struct gait_breakpoint_options *given, struct gait_breakpoint **breakpoint_out,
                               struct gait_error *err)
{
    struct gait_breakpoint_options options;
    int result = options_read(&options_type, given, &options, err);

    if (result != 0)
        return result;
    if (options.hit == NULL || options.kind > GAIT_BREAKPOINT_ACCESS)
        return error_set(err, EINVAL, "cannot set a breakpoint: %s",
                         options.hit == NULL ? "hit is NULL" : "there is no such kind");
    if (options.tid == 0)
        options.tid = thread_current();
    if (engine_host() == NULL)
        return set_failed(-EOPNOTSUPP, &options, err);
    mutex_lock(&lock);
    result = set_locked(&options, breakpoint_out);
    mutex_unlock(&lock);
    return result == 0 ? 0 : set_failed(result, &options, err);
}

/* The handler is on that thread: if it is ours, it is either not running, or who called this. */
static void wait_for_handler(struct gait_breakpoint *breakpoint)
{
    while (breakpoint->options.tid != thread_current() && atomic_load(&breakpoint->is_hit) != 0) {
        /* A thread that ended in there will not come back. */
        if (!thread_exists(breakpoint->options.tid))
            atomic_store(&breakpoint->is_hit, 0);
        usleep(HANDLER_WAIT_US);
    }
}

EXPORT void gait_breakpoint_remove(struct gait_breakpoint *breakpoint)
{
    if (breakpoint == NULL)
        return;
    hardware_breakpoint_clear(breakpoint->fd);
    atomic_fetch_add(&breakpoint->uses, 1);
    wait_for_handler(breakpoint);
    mutex_lock(&lock);
    breakpoint->is_set = false;
    mutex_unlock(&lock);
}

EXPORT void gait_breakpoints(bool (*visit)(void *context, struct gait_breakpoint *breakpoint,
                                           const struct gait_breakpoint_options *options),
                             void *context)
{
    for (unsigned i = 0; i < BREAKPOINTS_MAX; i++) {
        struct gait_breakpoint_options options;
        bool is_set;

        mutex_lock(&lock);
        is_set = breakpoints[i].is_set && atomic_load_explicit(&breakpoints[i].uses, memory_order_relaxed) % 2 == 1;
        options = breakpoints[i].options;
        mutex_unlock(&lock);
        if (is_set && !visit(context, &breakpoints[i], &options))
            return;
    }
}

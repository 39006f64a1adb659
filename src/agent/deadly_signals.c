/* SPDX-License-Identifier: MIT */
/*
 * The kernel's actions are the state. The signal is sent again with all that came with it, and delivered when the
 * handler returns, before the thread does anything: so the core is that of the thread where it was. Should others fault
 * by what is taken from under them, they wait here.
 */
#include "agent/deadly_signals.h"

#include "arch/signal_saved.h"
#include "base/raw_syscall.h"
#include "hook/return_tracking.h"

#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/unistd.h>
#include <linux/time_types.h>
#include <stdatomic.h>
#include <stddef.h>

#define BIT(signal) (1ull << ((signal)-1))

/* Those that make the kernel write a core. */
#define DEADLY_SIGNALS                                                                                                 \
    (BIT(SIGQUIT) | BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGABRT) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGSEGV) |             \
     BIT(SIGXCPU) | BIT(SIGXFSZ) | BIT(SIGSYS))

/* What threads wait that are hit while another one ends the process. */
#define WAIT_MS 5000

/* What the kernel calls a sigaction. */
struct deadly_action {
    uint64_t handler;
    uint64_t flags;
    uint64_t restorer;
    uint64_t mask;
};

static struct {
    const struct deadly_signals_helper *helper;
    long pid;
    _Atomic uint32_t dying; /* the thread; 0: none is */
} state;

static long current_pid(void)
{
    return raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0);
}

void deadly_signals_begin_in_child(void)
{
    state.pid = current_pid();
    atomic_store_explicit(&state.dying, 0, memory_order_relaxed);
}

void deadly_signals_begin(const struct deadly_signals_helper *helper)
{
    state.helper = helper;
    deadly_signals_begin_in_child();
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static void set_action(int signal, const struct deadly_action *action)
{
    (void)raw_syscall(__NR_rt_sigaction, signal, (long)action, 0, sizeof(action->mask), 0, 0);
}

/* The process ends meanwhile. */
static void wait_for_end(void)
{
    const struct __kernel_timespec end = {.tv_sec = WAIT_MS / 1000};

    (void)raw_syscall(__NR_nanosleep, (long)&end, 0, 0, 0, 0, 0);
}

/* Puts the thread where it would be without hooks. */
static void show_place(siginfo_t *info, uint64_t ucontext)
{
    uint64_t frame = signal_saved_pc_in(ucontext) - signal_saved_pc_at(0);
    uint64_t *pc = (uint64_t *)(uintptr_t)signal_saved_pc_at(frame);
    uint64_t *sp = (uint64_t *)(uintptr_t)signal_saved_sp_at(frame);
    struct interrupted_place from = {*pc, *sp}, found;

    if (!state.helper->find_place(from, &found))
        return;
    *pc = found.pc;
    *sp = found.sp;
    /* Of instructions that the CPU refuses, it is the address of the fault. */
    if (info->si_code > 0 && (uintptr_t)info->si_addr == from.pc &&
        (info->si_signo == SIGILL || info->si_signo == SIGFPE || info->si_signo == SIGTRAP))
        info->si_addr = (void *)(uintptr_t)found.pc;
}

static void dying(int signal, siginfo_t *info, void *ucontext)
{
    static const struct deadly_action standard;
    long pid = current_pid(), tid = raw_syscall(__NR_gettid, 0, 0, 0, 0, 0, 0);
    uint32_t nobody = 0;

    /* A child with our memory is not us: what is in that is its parent's. */
    if (pid == state.pid) {
        if (!atomic_compare_exchange_strong(&state.dying, &nobody, (uint32_t)tid) && nobody != (uint32_t)tid)
            wait_for_end();
        show_place(info, (uintptr_t)ucontext);
        return_tracking_show_all();
        state.helper->restore_code();
    }
    set_action(signal, &standard);
    (void)raw_syscall(__NR_rt_tgsigqueueinfo, pid, tid, signal, (long)info, 0, 0);
}

/* ---- actions ----------------------------------------------------------------------------------------------------- */

static bool is_deadly(int signal)
{
    return signal > 0 && signal <= 64 && DEADLY_SIGNALS & BIT(signal);
}

static bool get_action(int signal, struct deadly_action *action_out)
{
    return raw_syscall(__NR_rt_sigaction, signal, 0, (long)action_out, sizeof(action_out->mask), 0, 0) == 0;
}

void deadly_signals_cover(int signal)
{
    const struct deadly_action ours = {
        .handler = (uintptr_t)dying,
        .flags = SA_SIGINFO | SA_ONSTACK | SA_RESTORER,
        .restorer = signal_restorer(),
        .mask = UINT64_MAX,
    };
    struct deadly_action action;

    /* What the first process of a namespace does not handle, it does not get. */
    if (!is_deadly(signal) || ours.restorer == 0 || current_pid() == 1 || !get_action(signal, &action) ||
        action.handler != (uintptr_t)SIG_DFL)
        return;
    set_action(signal, &ours);
}

void deadly_signals_uncover(int signal)
{
    static const struct deadly_action standard;
    struct deadly_action action;

    if (is_deadly(signal) && get_action(signal, &action) && action.handler == (uintptr_t)dying)
        set_action(signal, &standard);
}

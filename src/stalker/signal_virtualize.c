/* SPDX-License-Identifier: MIT */
/*
 * The kernel delivers to our handler, on a stack of ours. Where the thread is at a place whose trail gives the
 * program's state, the frame is copied to where the program expects it, with that state in it, and the thread enters
 * the engine to go on at the start of the program's handler. Elsewhere - in the engine, in cold code, in a native call
 * - the signal is queued again and all are blocked until the thread is on its way back into the cache: there, in a
 * gate, they are let in, and the state is known. So handlers begin and end in the engine with all signals blocked, and
 * each mask takes effect in that gate.
 *
 * Invariant: signals_held says that all are blocked, and signals_mask what is to be blocked afterwards. No lock is
 * taken on the way, since the interrupted thread may have any.
 */
#include "stalker/signal_virtualize.h"

#include "arch/engine.h"
#include "base/attributes.h"
#include "base/counters.h"
#include "base/raw_syscall.h"
#include "stalker/call_telling.h"
#include "stalker/code_cache.h"
#include "stalker/event_buffer.h"
#include "stalker/follow.h"
#include "stalker/program_memory.h"
#include "stalker/seccomp_filter.h"
#include "stalker/signal_actions.h"
#include "stalker/signal_frame.h"
#include "stalker/signal_stack.h"
#include "stalker/stalker_gate.h"
#include "stalker/thread.h"
#include "stalker/thread_registry.h"
#include "stalker/trail.h"

#include <asm/unistd.h>
#include <linux/signal.h>

_Static_assert(sizeof(struct signal_info) == sizeof(siginfo_t), "the kernel has another one");
_Static_assert(offsetof(siginfo_t, si_addr) == SIGNAL_INFO_ADDRESS_AT, "the kernel has another one");

/* No instruction: whatever comes next is behind it. */
#define STEP_BEFORE UINT64_MAX

static uint64_t bit_of(int signal)
{
    return 1ull << (signal - 1);
}

void signal_thread_begin(struct stalker_thread *thread)
{
    if (!atomic_exchange_explicit(&thread->is_expected, false, memory_order_relaxed))
        signal_actions_acquire();
    /* On the thread itself: what it installed until now, natively, is seen. */
    signal_actions_take();
    signal_stack_begin(thread);
    atomic_store_explicit(&thread->is_inside, true, memory_order_relaxed);
}

/* Whether the program has made a step, to where cpu is, and not seen the trap. */
static bool is_step_owed(const struct stalker_thread *thread, const struct gait_cpu_context *cpu)
{
    return thread->stepping_from != 0 && thread->stepping_from != cpu->pc &&
           !engine_host()->frame->is_between(cpu, thread->stepping_from);
}

static siginfo_t step_info(uint64_t pc)
{
    siginfo_t info = {.si_signo = SIGTRAP, .si_code = TRAP_TRACE};

    info.si_addr = (void *)(uintptr_t)pc;
    return info;
}

static void send_step(const struct stalker_thread *thread)
{
    siginfo_t info = step_info(thread->context.pc);

    raw_syscall(__NR_rt_tgsigqueueinfo, raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0), thread->tid, SIGTRAP, (long)&info,
                0, 0);
}

UNSANITIZED _Noreturn void signal_thread_end(struct stalker_thread *thread)
{
    signal_thread_hold(thread);
    if (is_step_owed(thread, &thread->context))
        send_step(thread);
    interrupted_call_leave(thread);
    signal_actions_release();
    signal_frame_leave(thread);
}

void signal_thread_hold(struct stalker_thread *thread)
{
    uint64_t mask = signal_mask_set(SIGNAL_MASK_ALL);

    if (thread->signals_held)
        return;
    thread->signals_mask = mask;
    thread->signals_held = 1;
}

void signal_thread_let_traps(const struct stalker_thread *thread, bool may_come)
{
    /* One that the program blocks is to end the process. */
    if (!(thread->signals_mask & bit_of(SIGSYS)))
        signal_mask_set(may_come ? SIGNAL_MASK_ALL & ~bit_of(SIGSYS) : SIGNAL_MASK_ALL);
}

UNSANITIZED _Noreturn void signal_return(struct stalker_thread *thread)
{
    void *ucontext = (void *)(uintptr_t)gait_cpu_stack_pointer(&thread->context);

    signal_thread_hold(thread);
    signal_frame_get(ucontext, &thread->context);
    signal_stack_return(&thread->alternate_stack, signal_frame_stack(ucontext),
                        gait_cpu_stack_pointer(&thread->context));
    thread->signals_mask = *signal_frame_mask(ucontext);
    thread->reason =
        callout_done_take(thread, (uintptr_t)ucontext, thread->context.pc) ? STALKER_BEHIND : STALKER_ENTER;
    thread->stepping_from = engine_host()->frame->steps(&thread->context) ? thread->context.pc : 0;
    signal_frame_return(thread, ucontext);
}

/* Raised by what the thread itself just did, not sent. */
static bool is_fault(int signal, const siginfo_t *info)
{
    switch (signal) {
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
    case SIGSYS:
        return info->si_code > 0;
    default:
        return false;
    }
}

static bool is_inside(const struct stalker_thread *thread)
{
    return atomic_load_explicit(&thread->is_inside, memory_order_relaxed);
}

/* A trap behind an instruction of a thread that single steps itself. */
static bool is_step(int signal, const siginfo_t *info)
{
    return signal == SIGTRAP && info->si_code == TRAP_TRACE;
}

/* Somebody stopped the thread and sent it there; a signal that was under way to it by then comes before it begins. */
static bool is_sent_to_begin(const struct gait_cpu_context *cpu)
{
    return cpu->pc == (uintptr_t)stalker_gate_begin;
}

/* The program's state from that of a thread in translated code or a gate. */
static bool recover(struct stalker_thread *thread, struct gait_cpu_context *cpu)
{
    enum gate_place gate = stalker_gate_recover(thread, cpu);
    struct code_place place;

    thread->event_cut.is_cut = false;
    if (gate == GATE_PROGRAM) {
        if (thread->behind.cache_pc != 0)
            event_cut_at(thread, thread->behind.cache_pc);
        return true;
    }
    if (!is_inside(thread))
        return false;
    if (is_sent_to_begin(cpu)) {
        *cpu = thread->context;
        thread->behind.cache_pc = 0;
        return true;
    }
    if (code_cache_place_at(thread->cache, cache_pc_of(cpu->pc), &place)) {
        interrupted_call_forget(thread);
        return trail_recover(thread, &place, cpu) == 0;
    }
    thread->behind.cache_pc = 0;
    /* On our stack it is here already, for another signal. */
    if (thread->is_trying && !stalker_thread_is_on_stack(thread, gait_cpu_stack_pointer(cpu)))
        return true;
    /* About to make a system call outside of the cache, for which all registers are the program's. */
    if (cpu->pc != thread->resume)
        return false;
    *cpu = thread->context;
    return true;
}

/* What the kernel does when it cannot write a frame. */
static void die(int signal, const struct gait_cpu_context *cpu)
{
    struct signal_death death = {.signal = signal, .code = SI_KERNEL, .cpu = cpu, .is_known = true};
    uint64_t mask = ~bit_of(signal);

    death.address = gait_cpu_stack_pointer(cpu);
    signal_watch_dying(&death);
    signal_actions_reset(signal);
    raw_syscall(__NR_tkill, stalker_current_tid(), signal, 0, 0, 0, 0);
    signal_mask_set(mask);
}

void signal_thread_die(struct stalker_thread *thread, int signal)
{
    signal_thread_hold(thread);
    die(signal, &thread->context);
}

void signal_thread_raise(struct stalker_thread *thread, int signal, const void *info)
{
    signal_thread_hold(thread);
    if (thread->signals_mask & bit_of(signal) || signal_is_ignored(signal))
        die(signal, &thread->context);
    else if (raw_syscall(__NR_rt_tgsigqueueinfo, raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0), thread->tid, signal,
                         (long)info, 0, 0) != 0)
        raw_syscall(__NR_tkill, thread->tid, signal, 0, 0, 0, 0);
}

/* Copies the frame to the stack that the handler asked for. False: that is no memory. */
static bool copy_frame(struct signal_copy *copy, const struct signal_action *action, const struct signal_stack *stack,
                       uint64_t sp)
{
    bool on_other = action->flags & SA_ONSTACK && signal_stack_is_free(stack, sp);

    copy->restorer = signal_action_restorer(action);
    engine_host()->frame->place(copy, on_other ? stack->start + stack->size_bytes
                                               : sp - engine_host()->frame->red_zone_bytes);
    if (on_other && copy->start < stack->start)
        return false;
    if (!program_memory_make_writable(copy->start, copy->size_bytes))
        return false;
    engine_host()->frame->write(copy);
    return true;
}

static void use_up(int signal, const struct signal_action *action)
{
    if (action->flags & (unsigned)SA_RESETHAND)
        signal_actions_use_up(signal);
}

/* The handler begins natively, as if we were not there; a frame that is not where it wants it is copied there. */
static void run_natively(struct signal_outcome *outcome, const struct stalker_thread *thread)
{
    int signal = (int)outcome->signal;
    struct signal_action action = signal_actions_get(signal);
    void *ucontext = (void *)(uintptr_t)outcome->ucontext;
    struct signal_copy copy = {.ucontext = ucontext, .info = (const void *)(uintptr_t)outcome->info};
    const struct signal_stack *stack = signal_frame_stack(ucontext);
    struct gait_cpu_context cpu;
    bool is_away;

    signal_frame_get(ucontext, &cpu);
    if (thread != NULL)
        stack = &thread->alternate_stack;
    is_away = thread != NULL || (!(action.flags & SA_ONSTACK) && signal_stack_holds(stack, outcome->ucontext) &&
                                 !signal_stack_holds(stack, gait_cpu_stack_pointer(&cpu)));
    use_up(signal, &action);
    outcome->target = action.handler;
    if (!is_away)
        return;
    if (!copy_frame(&copy, &action, stack, gait_cpu_stack_pointer(&cpu))) {
        die(SIGSEGV, &cpu);
        return;
    }
    outcome->sp = copy.start;
    outcome->info = signal_frame_info_at(copy.start);
    outcome->ucontext = signal_frame_ucontext_at(copy.start);
}

/* The kernel's frame gets the program's state, and the handler is where following begins. */
static void begin_in_handler(struct stalker_thread *thread, struct signal_outcome *outcome)
{
    struct signal_action action = signal_actions_get((int)outcome->signal);
    struct signal_copy frame = {0};
    struct gait_cpu_context entry;

    interrupted_call_handled(thread, &thread->context, &action);
    entry = thread->context;
    signal_frame_set((void *)(uintptr_t)outcome->ucontext, &thread->context);
    run_natively(outcome, NULL);
    frame.start = outcome->sp;
    engine_host()->frame->enter(&frame, (int)outcome->signal, outcome->target, &entry);
    thread->context = entry;
    outcome->target = (uintptr_t)stalker_gate_begin;
}

static void queue_again(struct stalker_thread *thread, const struct signal_outcome *outcome)
{
    const struct signal_info *info = (const struct signal_info *)(uintptr_t)outcome->info;
    int process = (int)raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0);

    signal_mask_set(SIGNAL_MASK_ALL);
    if (outcome->signal >= SIGRTMIN && thread->deferred.signal == 0)
        thread->deferred = (struct signal_deferred){.signal = (int)outcome->signal, .first = *info, .last = *info};
    counter_add(COUNTER_signals_deferred, 1);
    if (raw_syscall(__NR_rt_tgsigqueueinfo, process, thread->tid, (long)outcome->signal, (long)outcome->info, 0, 0) <
        0) {
        /* No room for what it says. */
        raw_syscall(__NR_tgkill, process, thread->tid, (long)outcome->signal, 0, 0, 0);
        thread->deferred.signal = 0;
    }
}

/* The signal comes again when the thread is in a known state. */
static void defer(struct stalker_thread *thread, const struct signal_outcome *outcome,
                  const struct gait_cpu_context *cpu)
{
    uint64_t *mask = signal_frame_mask((void *)(uintptr_t)outcome->ucontext);

    queue_again(thread, outcome);
    /* Where all others are held (signal_thread_let_traps), the program's mask is known. */
    if (!thread->signals_held || outcome->signal != SIGSYS)
        thread->signals_mask = *mask;
    thread->signals_held = 1;
    *mask = SIGNAL_MASK_ALL;
    /* The kernel does not hold back a trap that comes now, but ends the process. */
    if (engine_host()->frame->steps(cpu))
        *mask &= ~bit_of(SIGTRAP);
}

static bool is_same(const struct signal_info *a, const struct signal_info *b)
{
    return __builtin_memcmp(a, b, sizeof(*a)) == 0;
}

/*
 * A signal that was queued again is behind others of its number that came meanwhile, where numbers are queued at all.
 * So each takes the content of the one before it.
 */
static void put_in_order(struct signal_deferred *deferred, int signal, struct signal_info *info)
{
    struct signal_info next = deferred->first;

    if (deferred->signal != signal)
        return;
    if (is_same(info, &deferred->last))
        deferred->signal = 0;
    deferred->first = *info;
    *info = next;
}

/* The handler begins, in the cache, with the program's state in its frame. */
static void deliver(struct stalker_thread *thread, struct signal_outcome *outcome, const struct gait_cpu_context *cpu,
                    bool is_sent)
{
    int signal = (int)outcome->signal;
    struct signal_action action = signal_actions_get(signal);
    void *ucontext = (void *)(uintptr_t)outcome->ucontext, *info = (void *)(uintptr_t)outcome->info;
    struct signal_copy copy = {.ucontext = ucontext, .info = info};
    uint64_t mask = signal_mask_set(SIGNAL_MASK_ALL);
    uint64_t sp = gait_cpu_stack_pointer(cpu);
    struct gait_cpu_context interrupted, entry = *cpu;

    /* Another one came before this one could block it, and has to wait; what it interrupted was this handler. */
    if (thread->signals_held)
        mask = thread->signals_mask;
    signal_frame_get(ucontext, &interrupted);
    if (is_sent) {
        put_in_order(&thread->deferred, signal, info);
    } else {
        signal_info_move(info, interrupted.pc, cpu->pc);
        /* Raised before it was sent there. */
        if (is_sent_to_begin(&interrupted))
            signal_info_move(info, thread->sent_from, cpu->pc);
    }
    counter_add(COUNTER_signals_delivered, 1);
    signal_watch_delivered(signal);
    signal_frame_set(ucontext, cpu);
    *signal_frame_stack(ucontext) = thread->alternate_stack;
    if (!copy_frame(&copy, &action, &thread->alternate_stack, sp)) {
        die(SIGSEGV, cpu);
        return;
    }
    use_up(signal, &action);
    /* An instruction that raised its signal is run anew if the handler returns to it, and so are its callouts. */
    if (!is_sent)
        thread->behind.cache_pc = 0;
    callout_done_keep(thread, signal_frame_ucontext_at(copy.start), cpu->pc);
    engine_host()->frame->enter(&copy, signal, action.handler, &entry);
    signal_stack_enter(&thread->alternate_stack);
    /* An instruction that faults was tried, and is told each time. */
    if (!is_sent)
        thread->event_cut.ran_bytes++;
    event_write_cut(thread);
    thread->stepping_from = 0;
    thread->context = entry;
    thread->signals_mask = mask;
    thread->signals_held = 1;
    thread->reason = STALKER_ENTER;
    outcome->target = (uintptr_t)stalker_gate_begin;
}

/*
 * The CPU traps behind each instruction of translated code and of the gates. One of the program's is over when its pc
 * has changed; before that the program does not see the trap, and the thread makes another step.
 */
static bool is_step_under_way(struct stalker_thread *thread, const struct signal_outcome *outcome, bool is_known,
                              const struct gait_cpu_context *cpu)
{
    const siginfo_t *info = (const siginfo_t *)(uintptr_t)outcome->info;

    /* Stopped, to be followed, between the trap and its signal: the program is to see it when it goes on. */
    if (!is_known && (uintptr_t)info->si_addr == thread->context.pc) {
        thread->stepping_from = STEP_BEFORE;
        defer(thread, outcome, cpu);
    }
    if (!is_known)
        return true;
    /* The first trap comes at the instruction behind the one that set the flag. */
    if (thread->stepping_from == 0 || engine_host()->frame->is_between(cpu, thread->stepping_from))
        thread->stepping_from = cpu->pc;
    return thread->stepping_from == cpu->pc;
}

/* A step that the program has not seen comes before the signal that is there, which is queued again. */
static void put_step_first(struct stalker_thread *thread, struct signal_outcome *outcome, uint64_t pc)
{
    struct signal_action action = signal_actions_get(SIGTRAP);
    uint64_t blocked = *signal_frame_mask((void *)(uintptr_t)outcome->ucontext) | action.mask;

    queue_again(thread, outcome);
    *(siginfo_t *)(uintptr_t)outcome->info = step_info(pc);
    outcome->signal = SIGTRAP;
    thread->signals_mask = action.flags & (unsigned)SA_NODEFER ? blocked : blocked | bit_of(SIGTRAP);
    thread->signals_held = 1;
}

/* The process ends as it would have: the same signal comes once more, and finds what the program had. */
static void end_process(struct signal_outcome *outcome, struct stalker_thread *thread, struct gait_cpu_context *cpu,
                        bool is_known)
{
    siginfo_t *info = (siginfo_t *)(uintptr_t)outcome->info;
    int signal = (int)outcome->signal;
    struct gait_cpu_context interrupted;
    struct signal_death death = {.signal = signal, .cpu = cpu, .is_known = is_known};

    signal_frame_get((void *)(uintptr_t)outcome->ucontext, &interrupted);
    if (is_fault(signal, info))
        signal_info_move(info, interrupted.pc, cpu->pc);
    death.code = info->si_code;
    death.address = is_fault(signal, info) ? (uintptr_t)info->si_addr : 0;
    signal_watch_dying(&death);
    signal_actions_reset(signal);
    if (is_known && thread != NULL) {
        if (is_fault(signal, info))
            thread->event_cut.ran_bytes++;
        event_write_cut(thread);
        signal_frame_set((void *)(uintptr_t)outcome->ucontext, cpu);
    }
    /* It is blocked until we return from the frame. */
    (void)raw_syscall(__NR_rt_tgsigqueueinfo, raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0), stalker_current_tid(), signal,
                      (long)info, 0, 0);
}

/* A signal for which the program has no handler, and which ends it. False: it has to wait for a known state. */
static bool end_by_default(struct stalker_thread *thread, struct signal_outcome *outcome)
{
    const siginfo_t *info = (const siginfo_t *)(uintptr_t)outcome->info;
    struct gait_cpu_context cpu;
    bool is_known;

    signal_frame_get((const void *)(uintptr_t)outcome->ucontext, &cpu);
    is_known = thread == NULL || recover(thread, &cpu);
    if (!is_known && is_inside(thread) && !is_fault((int)outcome->signal, info))
        return false;
    end_process(outcome, thread, &cpu, is_known);
    return true;
}

/*
 * A filter of system calls trapped one that we made for the program, which has the signal when it goes on behind the
 * call, as it would have had it.
 */
static bool is_trapped_for_program(const struct signal_outcome *outcome, siginfo_t *info)
{
    struct stalker_thread *thread = thread_registry_current();

    if (outcome->signal != SIGSYS || thread == NULL ||
        (info->si_call_addr != raw_syscall_for_program_end && info->si_call_addr != stalker_clone_called))
        return false;
    info->si_call_addr = (void *)(uintptr_t)engine_host()->registers->system_call_next(&thread->context).value;
    thread->was_trapped = true;
    return true;
}

void stalker_signal_arrived(struct signal_outcome *outcome)
{
    struct stalker_thread *thread = thread_registry_current();
    siginfo_t *info = (siginfo_t *)(uintptr_t)outcome->info;
    bool is_sent = !is_fault((int)outcome->signal, info) || is_trapped_for_program(outcome, info);
    struct gait_cpu_context cpu;
    struct signal_action action = signal_actions_get((int)outcome->signal);
    bool is_ours, is_known;

    if (outcome->signal == SIGSYS && info->si_code == SYS_SECCOMP && seccomp_filter_kills(info->si_errno))
        raw_syscall(__NR_tkill, stalker_current_tid(), SIGKILL, 0, 0, 0, 0);
    if (signal_action_is_default(&action) && end_by_default(thread, outcome))
        return;
    if (thread == NULL) {
        run_natively(outcome, NULL);
        return;
    }
    signal_frame_get((const void *)(uintptr_t)outcome->ucontext, &cpu);
    is_ours = stalker_thread_is_on_stack(thread, gait_cpu_stack_pointer(&cpu));
    is_known = recover(thread, &cpu);
    if (is_step((int)outcome->signal, info) && is_step_under_way(thread, outcome, is_known, &cpu))
        return;
    if (is_known && is_sent && is_step_owed(thread, &cpu)) {
        put_step_first(thread, outcome, cpu.pc);
        is_sent = false;
    }
    if (is_known && is_sent)
        interrupted_call_handled(thread, &cpu, &action);
    /* A call that ends with a signal is over before its handler runs. */
    if (is_known)
        call_telling_returned(thread, &cpu);
    if (is_known)
        deliver(thread, outcome, &cpu, is_sent);
    else if (!is_inside(thread) && is_sent_to_begin(&cpu))
        begin_in_handler(thread, outcome);
    else if (!is_ours && !is_inside(thread))
        run_natively(outcome, NULL);
    else if (is_sent)
        defer(thread, outcome, &cpu);
    else if (is_ours)
        signal_actions_reset((int)outcome->signal);
    else
        run_natively(outcome, thread);
}

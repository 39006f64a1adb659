/* SPDX-License-Identifier: MIT */
/*
 * Most calls are told when they have returned. Those that end a thread or a program are told before; those that return
 * in a child, too, go on there untold, and as long as a child uses the memory of a thread that waits for it, calls are
 * the child's.
 */
#include "agent/system_call_watch.h"

#include "agent/dispatched_calls.h"
#include "agent/hook_details.h"
#include "agent/system_call_injection.h"
#include "agent/system_call_lane.h"
#include "arch/own_calls.h"
#include "base/memory_functions.h"
#include "base/raw_syscall.h"
#include "hook/hook_thread.h"
#include "hook/system_call_gate.h"
#include "process/call_dispatch.h"
#include "process/memory_probe.h"
#include "protocol/agent_call.h"
#include "ring/detail_record.h"

#include <asm/unistd.h>
#include <linux/mman.h>
#include <linux/sched.h>
#include <linux/time.h>
#include <stdatomic.h>

#define NUMBERS (AGENT_SYSTEM_CALL_WORDS * 64u)
#define KINDS   65536u

/* In the note of a call: the number of its injection, and above that what the CPU had worked before it. */
#define NOTE_INJECTION 0xffu
#define NOTE_CPU_SHIFT 8

static struct {
    bool is_wanted;
    bool has_stacks;
    uint32_t facts; /* enum agent_call_fact */
    uint64_t wanted[AGENT_SYSTEM_CALL_WORDS];
    void (*mapped)(void); /* NULL: nobody waits for that */
} watch;

static bool is_told(uint64_t number)
{
    if (number >= NUMBERS)
        number = NUMBERS - 1;
    return watch.wanted[number / 64] >> number % 64 & 1;
}

static bool makes_child(uint64_t number)
{
#ifdef __NR_fork
    if (number == __NR_fork || number == __NR_vfork)
        return true;
#endif
    return number == __NR_clone || number == __NR_clone3;
}

static bool executes(uint64_t number)
{
    return number == __NR_execve || number == __NR_execveat;
}

static bool ends(uint64_t number)
{
    return number == __NR_exit || number == __NR_exit_group || number == __NR_rt_sigreturn;
}

/* Whether the child has our memory, and this thread waits until it has its own. */
static bool lends_memory(const struct system_call_frame *frame)
{
    uint64_t flags = 0;

#ifdef __NR_vfork
    if (frame->number == __NR_vfork)
        return true;
#endif
    if (frame->number == __NR_clone)
        flags = frame->arguments[0];
    else if (frame->number == __NR_clone3 && memory_probe_copy(frame->arguments[0], &flags, sizeof(flags)) != 0)
        return false;
    return (flags & (CLONE_VM | CLONE_VFORK)) == (CLONE_VM | CLONE_VFORK);
}

static bool maps_code(const struct system_call_frame *frame)
{
    return frame->number == __NR_mmap && frame->result > 0 && frame->arguments[2] & PROT_EXEC &&
           !(frame->arguments[3] & MAP_ANONYMOUS);
}

/* What the CPU has worked for this thread. */
static uint64_t cpu_ns(void)
{
    struct __kernel_timespec time = {0, 0};

    (void)raw_syscall(__NR_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)(uintptr_t)&time, 0, 0, 0, 0);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static struct told_system_call told_of(const struct hook_thread *thread, const struct system_call_frame *frame)
{
    struct told_system_call told = {
        .number = frame->number,
        .arguments = frame->arguments,
        .result = frame->result,
        .entered_time = frame->entered_time,
        .sp = frame->sp,
        .has_descriptors = (watch.facts & AGENT_CALLS_DESCRIPTORS) != 0,
    };

    if (thread->is_lending != 0)
        told.flags = DETAIL_SYSTEM_CALL_BY_CHILD | (uint32_t)raw_syscall(__NR_gettid, 0, 0, 0, 0, 0, 0)
                                                       << DETAIL_SYSTEM_CALL_CHILD_SHIFT;
    return told;
}

/* With who made it, if that is asked for. A handler that comes meanwhile may want to walk, too: none does. */
static void put(struct hook_thread *thread, struct told_system_call *told, const struct system_call_frame *frame,
                void (*put_record)(struct detail_lane *lane, const struct told_system_call *call))
{
    struct detail_lane *lane = hook_details_lane(thread);
    uint64_t frames[DETAIL_STACK_FRAMES_MAX], mask;

    if (lane == NULL)
        return;
    if (!watch.has_stacks) {
        put_record(lane, told);
        return;
    }
    mask = hook_signals_block();
    told->frames = frames;
    told->frame_count = hook_details_walk(thread, frame, frames);
    put_record(lane, told);
    hook_signals_unblock(mask);
}

/* It is not made: this is what it returns. */
static unsigned answer(struct hook_thread *thread, struct system_call_frame *frame,
                       const struct agent_injection *injection)
{
    struct told_system_call told = told_of(thread, frame);

    frame->result = told.result = injection->result;
    told.flags |= DETAIL_SYSTEM_CALL_INJECTED;
    if (injection->delay_enter_ns != 0 || injection->delay_exit_ns != 0)
        told.flags |= DETAIL_SYSTEM_CALL_DELAYED;
    system_call_injection_wait(injection->delay_exit_ns);
    if (is_told(frame->number))
        put(thread, &told, frame, system_call_lane_put);
    /* It comes when signals are unblocked, before the program goes on. */
    system_call_injection_signal(injection->signal);
    return CALL_MADE_ANSWERED;
}

/* It is about to be made, and will return, if nothing comes in between. */
static void begin(struct hook_thread *thread, struct system_call_frame *frame, struct told_system_call *told)
{
    if (!is_told(frame->number))
        return;
    if (executes(frame->number) || (watch.facts & (AGENT_CALLS_BEGINNINGS | AGENT_CALLS_DESCRIPTORS)) != 0)
        put(thread, told, frame, system_call_lane_put_enter);
    if ((watch.facts & AGENT_CALLS_CPU) != 0)
        frame->note |= cpu_ns() << NOTE_CPU_SHIFT;
}

/* Once a thread is dispatched, it matters of every call where it is made. */
static void set_all_special(void)
{
    static atomic_bool are_special;

    if (!atomic_exchange_explicit(&are_special, true, memory_order_relaxed))
        memset(system_call_kinds(), CALL_KIND_SPECIAL, KINDS);
}

/* It is made here, with other arguments than the program's, which are told. */
static unsigned set_dispatch(struct hook_thread *thread, struct system_call_frame *frame)
{
    struct told_system_call told = told_of(thread, frame);
    long arguments[6];

    __builtin_memcpy(arguments, frame->arguments, sizeof(arguments));
    (void)dispatched_calls_setting_begins(thread->tid, (long)frame->number, arguments);
    set_all_special();
    frame->result = told.result = raw_syscall_for_program((long)frame->number, arguments[0], arguments[1], arguments[2],
                                                          arguments[3], arguments[4], arguments[5]);
    dispatched_calls_setting_ends(thread->tid, frame->result);
    if (is_told(frame->number))
        put(thread, &told, frame, system_call_lane_put);
    return CALL_MADE_ANSWERED;
}

/* As a call that passes by its place in the program, which is not where a stub makes it. */
static void return_from_signal(struct hook_thread *thread, const struct system_call_frame *frame)
{
    /* The gate does not come back from its stack. */
    if (frame->is_elsewhere)
        hook_thread_set_ignoring(thread, HOOK_IGNORING_LISTENER, 0);
    own_calls_return_from_signal(frame->sp);
}

static unsigned enters_here(struct hook_thread *thread, struct system_call_frame *frame)
{
    const struct agent_injection *injection = system_call_injection_pick(thread, frame->number);
    struct told_system_call told = told_of(thread, frame);

    if (injection != NULL) {
        system_call_injection_wait(injection->delay_enter_ns);
        if (injection->has_result)
            return answer(thread, frame, injection);
        frame->note = system_call_injection_number(injection);
        told.flags |= DETAIL_SYSTEM_CALL_DELAYED;
    }
    if (makes_child(frame->number)) {
        begin(thread, frame, &told);
        thread->is_lending += lends_memory(frame);
        return CALL_MADE_BY_CHILD;
    }
    if (!executes(frame->number) && !ends(frame->number)) {
        begin(thread, frame, &told);
        return CALL_MADE_TOLD;
    }
    if (!is_told(frame->number))
        return CALL_MADE_UNTOLD;
    if (executes(frame->number)) {
        begin(thread, frame, &told);
        return CALL_MADE_TOLD;
    }
    told.flags |= DETAIL_SYSTEM_CALL_NEVER_RETURNED;
    put(thread, &told, frame, system_call_lane_put);
    return CALL_MADE_UNTOLD;
}

static unsigned enters(struct hook_thread *thread, struct system_call_frame *frame)
{
    uint64_t next = frame->stub->behind, pc = next - (frame->stub->after - frame->stub->plain_at);
    enum dispatched_call place = DISPATCHED_CALL_PASSES;
    unsigned made;

    /* A child in our memory has none of it. */
    if (dispatched_calls_are_used() && thread->is_lending == 0)
        place = dispatched_calls_ask(thread->tid, pc, next);
    if (place == DISPATCHED_CALL_IS_HELD)
        return CALL_MADE_UNTOLD;
    if (thread->is_lending == 0 && call_dispatch_is_set_by((long)frame->number, (const long *)frame->arguments))
        return set_dispatch(thread, frame);
    made = enters_here(thread, frame);
    if (place != DISPATCHED_CALL_IS_APART || made == CALL_MADE_ANSWERED)
        return made;
    if (frame->number == __NR_rt_sigreturn)
        return_from_signal(thread, frame);
    (void)dispatched_calls_pause(thread->tid);
    /* It has to come back, for the thread to be dispatched again. */
    return made == CALL_MADE_UNTOLD ? CALL_MADE_TOLD : made;
}

static void left(struct hook_thread *thread, const struct system_call_frame *frame)
{
    const struct agent_injection *injection = system_call_injection_by_number(frame->note & NOTE_INJECTION);
    uint64_t cpu_after_ns = (watch.facts & AGENT_CALLS_CPU) != 0 ? cpu_ns() : 0;
    struct told_system_call told;

    if (makes_child(frame->number) && thread->is_lending != 0 && lends_memory(frame))
        thread->is_lending--;
    if (thread->is_lending == 0)
        (void)dispatched_calls_resume(thread->tid);
    if (injection != NULL)
        system_call_injection_wait(injection->delay_exit_ns);
    if (!is_told(frame->number) && watch.mapped == NULL)
        return;
    told = told_of(thread, frame);
    if (injection != NULL)
        told.flags |= DETAIL_SYSTEM_CALL_DELAYED;
    told.has_cpu = cpu_after_ns != 0;
    told.cpu_ns[0] = frame->note >> NOTE_CPU_SHIFT;
    told.cpu_ns[1] = cpu_after_ns;
    if (is_told(frame->number))
        put(thread, &told, frame, system_call_lane_put);
    if (watch.mapped != NULL && maps_code(frame))
        watch.mapped();
}

static void set_kinds(void)
{
    uint8_t *kinds = system_call_kinds();

    for (uint32_t i = 0; i < KINDS; i++) {
        kinds[i] = CALL_KIND_PLAIN;
        if (is_told(i) || (i == __NR_mmap && watch.mapped != NULL))
            kinds[i] = executes(i) || ends(i) || watch.facts != 0 ? CALL_KIND_SPECIAL : CALL_KIND_ORDINARY;
        if (makes_child(i) || i == __NR_prctl || dispatched_calls_are_used() || system_call_injection_concerns(i))
            kinds[i] = CALL_KIND_SPECIAL;
    }
}

static const struct system_call_watcher watcher = {.enters = enters, .left = left};

int system_call_watch_begin(const struct agent_options *options, void (*mapped)(void))
{
    int result;

    watch.is_wanted = options->tells_system_calls != 0;
    if (!watch.is_wanted)
        return 0;
    result = system_calls_begin(&watcher);
    if (result != 0)
        return result;
    __builtin_memcpy(watch.wanted, options->system_calls, sizeof(watch.wanted));
    system_call_lane_begin(options->system_call_bytes);
    system_call_injection_begin(options);
    watch.has_stacks = options->system_call_stacks != 0;
    watch.facts = options->system_call_facts;
    watch.mapped = options->is_whole ? mapped : NULL;
    set_kinds();
    return 0;
}

void system_call_watch_started(void)
{
    if (watch.mapped == NULL)
        return;
    watch.mapped = NULL;
    set_kinds();
}

void system_call_watch_end(void)
{
    if (!watch.is_wanted)
        return;
    system_calls_end();
    system_call_injection_end();
    watch.is_wanted = false;
    watch.mapped = NULL;
}

bool system_call_watch_is_wanted(void)
{
    return watch.is_wanted;
}

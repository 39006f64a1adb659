/* SPDX-License-Identifier: MIT */
/*
 * System calls seen by ptrace: works wherever one process may trace another, and stops threads twice for each call.
 * Threads are seized, not attached to, so that group stops stay visible and nothing gets a SIGSTOP that it could
 * notice. No filter (seccomp) picks the calls that are wanted: calls that a filter hands to a tracer fail when the
 * tracer is dead, and the program must not notice that either.
 *
 * One thread of ours does all of it: it waits for stops with signals blocked, so that none is lost between looking and
 * waiting, and lets threads go on that an injection holds back when their time has come.
 */
#define _GNU_SOURCE
#include "syscalls/system_call_source.h"

#include "arch/abi.h"
#include "hosted/error_text.h"
#include "hosted/system_clock.h"
#include "inject/trace_refusal.h"
#include "syscalls/program_memories.h"
#include "syscalls/program_start.h"
#include "syscalls/ptrace_registers.h"
#include "syscalls/ptrace_thread.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#define SYSCALL_STOP (SIGTRAP | 0x80)
#define NS_PER_S     1000000000ULL

struct tracer {
    const struct system_call_request *request;
    struct ptrace_threads threads;
    struct live_memory memory;
    struct program_start start;
    int status;      /* of the program */
    bool has_ended;  /* the program */
    bool is_leaving; /* somebody pressed Ctrl-C */
    bool has_begun;  /* the program was executed */
    sigset_t signals;
};

static void complete(const struct tracer *tracer, const struct ptrace_thread *thread, struct system_call_event *event)
{
    event->pid = thread->pid;
    event->tid = thread->tid;
    event->number = thread->number;
    event->entered_ns = thread->entered_ns;
    event->memory = &tracer->memory.memory;
    for (unsigned i = 0; i < SYSTEM_CALL_ARGUMENTS_MAX; i++)
        event->arguments[i] = thread->arguments[i];
}

static void report(struct tracer *tracer, struct ptrace_thread *thread, struct system_call_event *event)
{
    if (thread->is_hidden)
        return;
    complete(tracer, thread, event);
    tracer->request->hear(tracer->request->context, event);
}

/* Whether the call, which is just being made, is one of those that are looked at. */
static bool is_picked(const struct tracer *tracer, const struct ptrace_thread *thread,
                      const struct system_call_event *entered)
{
    struct system_call_event event = *entered;

    if (tracer->request->picks == NULL)
        return true;
    complete(tracer, thread, &event);
    return tracer->request->picks(tracer->request->context, &event);
}

/* Writes where arguments point. */
static void poke(struct tracer *tracer, struct ptrace_thread *thread, const char *text)
{
    uint8_t bytes[INJECTION_POKE_BYTES];

    for (unsigned i = 0; text[0] != '\0' && i < SYSTEM_CALL_ARGUMENTS_MAX; i++) {
        struct iovec here = {bytes, injection_poke(text, i, bytes)};
        struct iovec there = {(void *)(uintptr_t)thread->arguments[i], here.iov_len};

        if (here.iov_len == 0)
            continue;
        if (process_vm_writev(thread->tid, &here, 1, &there, 1, 0) > 0)
            thread->is_poked = true;
        live_memory_turn_to(&tracer->memory, thread->tid);
    }
}

static void let_go(struct ptrace_thread *thread, int signal)
{
    /* It may have been killed meanwhile; waiting will tell. */
    thread->is_stopped = false;
    (void)ptrace(PTRACE_SYSCALL, thread->tid, NULL, (long)signal);
}

static void hold_back(struct tracer *tracer, struct ptrace_thread *thread, uint64_t delay_ns, int signal)
{
    thread->resume_at_ns = system_clock_ns(CLOCK_MONOTONIC) + delay_ns;
    thread->resume_signal = signal;
    tracer->threads.held_count++;
}

/* The injection that is meant for this call, if any. */
static const struct injection *pick_injection(struct tracer *tracer, struct ptrace_thread *thread)
{
    const struct injections *injections = tracer->request->injections;
    const struct injection *picked = NULL;

    for (size_t i = 0; injections != NULL && i < injections->count; i++) {
        if (!system_call_set_has(&injections->all[i].set, thread->number))
            continue;
        thread->counts[i]++;
        if (injection_applies(&injections->all[i], thread->counts[i]))
            picked = &injections->all[i];
    }
    return picked;
}

static void enter(struct tracer *tracer, struct ptrace_thread *thread, const struct __ptrace_syscall_info *info)
{
    struct system_call_event event = {
        .kind = SYSTEM_CALL_ENTERED, .pc = info->instruction_pointer, .sp = info->stack_pointer};
    int signal = 0;
    bool is_wanted;

    thread->in_call = true;
    thread->number = info->entry.nr | (info->arch == abi_host()->audit_arch ? 0 : SYSTEM_CALL_FOREIGN);
    thread->sp = info->stack_pointer;
    for (unsigned i = 0; i < SYSTEM_CALL_ARGUMENTS_MAX; i++)
        thread->arguments[i] = info->entry.args[i];
    /* The first that a child of ours does is executing the program. */
    if (thread->is_hidden && thread->number == (uint64_t)system_call_by_name("execve", 6)->number)
        thread->is_hidden = false;
    is_wanted = !thread->is_hidden && is_picked(tracer, thread, &event);
    thread->injected = is_wanted ? pick_injection(tracer, thread) : NULL;
    thread->was_told = is_wanted && system_call_set_has(tracer->request->set, thread->number);
    thread->is_poked = false;
    thread->entered_ns = system_clock_ns(CLOCK_MONOTONIC);
    thread->entered_cpu_ns = thread->cpu_ns;
    if (thread->was_told) {
        event.time_ns = system_clock_ns(CLOCK_REALTIME);
        report(tracer, thread, &event);
    }
    if (thread->injected != NULL) {
        signal = thread->injected->signal;
        poke(tracer, thread, thread->injected->poke_enter);
        if (thread->injected->has_result && ptrace_registers_skip_call(thread->tid) != 0)
            thread->injected = NULL;
    }
    if (thread->injected != NULL && thread->injected->delay_enter_ns != 0)
        hold_back(tracer, thread, thread->injected->delay_enter_ns, signal);
    else
        let_go(thread, signal);
}

static void leave(struct tracer *tracer, struct ptrace_thread *thread, const struct __ptrace_syscall_info *info)
{
    const struct injection *injected = thread->injected;
    struct system_call_event event = {
        .kind = SYSTEM_CALL_LEFT, .result = info->exit.rval, .pc = info->instruction_pointer, .sp = thread->sp};

    if (injected != NULL && injected->has_result && ptrace_registers_set_result(thread->tid, injected->result) == 0) {
        event.result = injected->result;
        event.flags |= SYSTEM_CALL_INJECTED;
    }
    if (injected != NULL && (injected->delay_enter_ns != 0 || injected->delay_exit_ns != 0))
        event.flags |= SYSTEM_CALL_DELAYED;
    if (injected != NULL)
        poke(tracer, thread, injected->poke_exit);
    event.flags |= thread->is_poked ? SYSTEM_CALL_POKED : 0;
    if (thread->in_call && thread->was_told) {
        event.time_ns = system_clock_ns(CLOCK_REALTIME);
        event.system_ns = system_clock_ns(CLOCK_MONOTONIC) - thread->entered_ns;
        event.cpu_ns = thread->cpu_ns - thread->entered_cpu_ns;
        report(tracer, thread, &event);
    }
    thread->in_call = false;
    thread->was_told = false;
    thread->injected = NULL;
    if (injected != NULL && injected->delay_exit_ns != 0)
        hold_back(tracer, thread, injected->delay_exit_ns, 0);
    else
        let_go(thread, 0);
}

static void handle_call(struct tracer *tracer, struct ptrace_thread *thread)
{
    struct __ptrace_syscall_info info;

    live_memory_turn_to(&tracer->memory, thread->tid);
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread->tid, sizeof(info), &info) <= 0)
        let_go(thread, 0);
    else if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
        enter(tracer, thread, &info);
    else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
        leave(tracer, thread, &info);
    else
        let_go(thread, 0);
}

static void handle_signal(struct tracer *tracer, struct ptrace_thread *thread, int signal)
{
    siginfo_t siginfo;
    struct __ptrace_syscall_info info;
    struct system_call_event event = {.kind = SYSTEM_CALL_SIGNALLED, .siginfo = &siginfo, .signal = signal};

    if (ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &siginfo) == 0) {
        if (ptrace(PTRACE_GET_SYSCALL_INFO, thread->tid, sizeof(info), &info) > 0)
            event.pc = info.instruction_pointer;
        event.time_ns = system_clock_ns(CLOCK_REALTIME);
        report(tracer, thread, &event);
    }
    let_go(thread, signal);
}

/* A process is stopped by a signal, and is to stay so until it is continued. */
static void handle_group_stop(struct tracer *tracer, struct ptrace_thread *thread, int signal)
{
    struct system_call_event event = {
        .kind = SYSTEM_CALL_STOPPED, .signal = signal, .time_ns = system_clock_ns(CLOCK_REALTIME)};

    report(tracer, thread, &event);
    thread->is_stopped = false;
    (void)ptrace(PTRACE_LISTEN, thread->tid, NULL, NULL);
}

/* A thread that is not the first executes a program: it goes on under the first one's id, and all others are gone. */
static struct ptrace_thread *handle_exec(struct tracer *tracer, struct ptrace_thread *thread)
{
    struct system_call_event event = {.kind = SYSTEM_CALL_REPLACED, .time_ns = system_clock_ns(CLOCK_REALTIME)};
    unsigned long former = 0;
    struct ptrace_thread *executing;

    if (ptrace(PTRACE_GETEVENTMSG, thread->tid, NULL, &former) != 0 || (int)former == thread->tid)
        return thread;
    executing = ptrace_threads_find(&tracer->threads, (int)former);
    if (executing == NULL)
        return thread;
    event.status = (int)former;
    report(tracer, thread, &event);
    executing->tid = thread->tid;
    ptrace_threads_remove(&tracer->threads, thread);
    return executing;
}

/* It goes on without us, as the program that it executes. */
static void leave_thread(struct tracer *tracer, struct ptrace_thread *thread)
{
    struct system_call_event event = {.kind = SYSTEM_CALL_DETACHED, .time_ns = system_clock_ns(CLOCK_REALTIME)};

    report(tracer, thread, &event);
    (void)ptrace(PTRACE_DETACH, thread->tid, NULL, NULL);
    ptrace_threads_remove(&tracer->threads, thread);
}

/* The first program that is executed is the one that we have started. */
static bool is_first(struct tracer *tracer, const struct ptrace_thread *thread)
{
    bool is_first = tracer->request->program != NULL && thread->tid == tracer->start.pid && !tracer->has_begun;

    tracer->has_begun |= is_first;
    return is_first;
}

static void handle_event(struct tracer *tracer, struct ptrace_thread *thread, int status)
{
    int event = status >> 16, signal = WSTOPSIG(status);

    if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
        handle_group_stop(tracer, thread, signal);
        return;
    }
    if (event == PTRACE_EVENT_EXEC) {
        thread = handle_exec(tracer, thread);
        if (!is_first(tracer, thread) && tracer->request->detaches_at_exec) {
            leave_thread(tracer, thread);
            return;
        }
    }
    let_go(thread, 0);
}

static void handle_end(struct tracer *tracer, struct ptrace_thread *thread, int status)
{
    struct system_call_event event = {.kind = SYSTEM_CALL_LEFT, .flags = SYSTEM_CALL_NEVER_RETURNS};

    if (thread->in_call && thread->was_told) {
        event.time_ns = system_clock_ns(CLOCK_REALTIME);
        event.system_ns = system_clock_ns(CLOCK_MONOTONIC) - thread->entered_ns;
        live_memory_turn_to(&tracer->memory, thread->tid);
        event.sp = thread->sp;
        report(tracer, thread, &event);
    }
    event = (struct system_call_event){
        .kind = SYSTEM_CALL_EXITED, .status = status, .time_ns = system_clock_ns(CLOCK_REALTIME)};
    report(tracer, thread, &event);
    if (tracer->request->program != NULL && thread->tid == tracer->start.pid) {
        tracer->status = status;
        tracer->has_ended = true;
    }
    ptrace_threads_remove(&tracer->threads, thread);
}

static int handle(struct tracer *tracer, int tid, int status, const struct rusage *usage, struct gait_error *err)
{
    struct ptrace_thread *thread = ptrace_threads_find(&tracer->threads, tid);

    /* A new child may stop before the event that tells of it; one that has ended is not worth an entry. */
    if (thread == NULL && !WIFSTOPPED(status))
        return 0;
    if (thread == NULL)
        thread = ptrace_threads_add(&tracer->threads, tid);
    if (thread == NULL)
        return error_set(err, ENOMEM, "cannot trace thread %d: there is no memory", tid);
    thread->cpu_ns = (uint64_t)usage->ru_stime.tv_sec * NS_PER_S + (uint64_t)usage->ru_stime.tv_usec * 1000;
    if (!WIFSTOPPED(status)) {
        handle_end(tracer, thread, status);
        return 0;
    }
    thread->is_stopped = true;
    if (status >> 16 != 0)
        handle_event(tracer, thread, status);
    else if (WSTOPSIG(status) == SYSCALL_STOP)
        handle_call(tracer, thread);
    else
        handle_signal(tracer, thread, WSTOPSIG(status));
    return 0;
}

/* Lets those go whose delay is over. Returns how long until the next one, or a long time. */
static uint64_t release_held(struct tracer *tracer)
{
    uint64_t soonest = UINT64_MAX, time = tracer->threads.held_count == 0 ? 0 : system_clock_ns(CLOCK_MONOTONIC);

    if (tracer->threads.held_count == 0)
        return UINT64_MAX;
    for (struct ptrace_thread *thread = tracer->threads.first; thread != NULL; thread = thread->next) {
        if (thread->resume_at_ns == 0)
            continue;
        if (thread->resume_at_ns <= time || tracer->is_leaving) {
            thread->resume_at_ns = 0;
            tracer->threads.held_count--;
            let_go(thread, thread->resume_signal);
        } else if (thread->resume_at_ns - time < soonest) {
            soonest = thread->resume_at_ns - time;
        }
    }
    return soonest;
}

/* Who may be interrupted takes Ctrl-C though a program was started, which is ended then. */
static bool ends_program(const struct system_call_request *request)
{
    return request->program != NULL && (request->interruptible == 1 || request->interruptible == 2);
}

/* Waits until something may have happened. */
static void wait_for_news(struct tracer *tracer, uint64_t longest_ns)
{
    const struct timespec timeout = {(time_t)(longest_ns / NS_PER_S), (long)(longest_ns % NS_PER_S)};
    int signal =
        longest_ns == UINT64_MAX ? sigwaitinfo(&tracer->signals, NULL) : sigtimedwait(&tracer->signals, NULL, &timeout);

    if (signal != SIGINT && signal != SIGTERM && signal != SIGHUP)
        return;
    tracer->is_leaving = true;
    if (ends_program(tracer->request))
        (void)kill(tracer->start.pid, signal);
}

static int loop(struct tracer *tracer, struct gait_error *err)
{
    while (tracer->threads.count > 0 && !tracer->is_leaving) {
        struct rusage usage;
        int status, tid = wait4(-1, &status, WNOHANG | __WALL, &usage);

        if (tid < 0 && errno == ECHILD)
            break;
        if (tid > 0) {
            int result = handle(tracer, tid, status, &usage, err);

            if (result != 0)
                return result;
            if (tracer->threads.held_count == 0)
                continue;
        }
        uint64_t soonest = release_held(tracer);

        if (tid <= 0)
            wait_for_news(tracer, soonest);
    }
    return 0;
}

/* The call of a stopped thread was to be left out: it gets its result now, or is made after all. */
static void settle_injection(struct ptrace_thread *thread, bool is_at_end)
{
    if (!thread->in_call || thread->injected == NULL || !thread->injected->has_result)
        return;
    if (is_at_end)
        (void)!ptrace_registers_set_result(thread->tid, thread->injected->result);
    else
        ptrace_registers_undo_skip(thread->tid, thread->number);
}

/* Leaves a thread alone as if nobody had looked. */
static void detach(struct ptrace_thread *thread)
{
    int status, signal = 0;

    if (thread->is_stopped) {
        settle_injection(thread, false);
    } else {
        if (ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) != 0 ||
            waitpid(thread->tid, &status, __WALL) != thread->tid || !WIFSTOPPED(status))
            return;
        if (status >> 16 == 0 && WSTOPSIG(status) == SYSCALL_STOP)
            settle_injection(thread, true);
        else if (status >> 16 == 0)
            signal = WSTOPSIG(status);
    }
    (void)ptrace(PTRACE_DETACH, thread->tid, NULL, (long)signal);
}

static void detach_all(struct tracer *tracer)
{
    for (struct ptrace_thread *thread = tracer->threads.first; thread != NULL; thread = thread->next)
        detach(thread);
}

static long trace_options(const struct tracer *tracer)
{
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC;

    if (tracer->request->follows)
        options |= PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
    return options;
}

static int seize(struct tracer *tracer, int tid, struct gait_error *err)
{
    if (ptrace_threads_add(&tracer->threads, tid) == NULL)
        return error_set(err, ENOMEM, "cannot trace thread %d: there is no memory", tid);
    if (ptrace(PTRACE_SEIZE, tid, NULL, trace_options(tracer)) == 0 && ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0)
        return 0;
    int number = errno;

    ptrace_threads_remove(&tracer->threads, tracer->threads.first);
    if (number == ESRCH)
        return error_set(err, ESRCH, "cannot trace process %d: there is no such process; ps shows which there are",
                         tid);
    return trace_refusal_explain(tid, err);
}

/* All threads of a process: new ones may come while we look, so it is looked at until nothing is new. */
static int seize_process(struct tracer *tracer, int pid, struct gait_error *err)
{
    char path[64];
    bool found = true;
    int result = seize(tracer, pid, err);

    snprintf(path, sizeof(path), "/proc/%d/task", pid);
    while (result == 0 && found && tracer->request->follows) {
        DIR *folder = opendir(path);
        const struct dirent *entry;

        found = false;
        while (folder != NULL && (entry = readdir(folder)) != NULL) {
            int tid = atoi(entry->d_name);

            if (tid <= 0 || ptrace_threads_find(&tracer->threads, tid) != NULL)
                continue;
            /* It may have ended since. */
            if (seize(tracer, tid, NULL) == 0)
                found = true;
        }
        if (folder != NULL)
            closedir(folder);
    }
    return result;
}

static int begin_program(struct tracer *tracer, struct gait_error *err)
{
    const struct system_call_request *request = tracer->request;
    const struct program_setup setup = {
        .program = request->program,
        .user = request->user,
        .variables = request->variables,
        .variable_count = request->variable_count,
        .place = (enum program_role)request->daemon,
    };
    int result = program_start_begin(&setup, &tracer->start, err);

    if (result != 0)
        return result;
    result = seize(tracer, tracer->start.pid, err);
    if (result != 0) {
        program_start_abandon(&tracer->start);
        return result;
    }
    tracer->threads.first->is_hidden = true;
    program_start_go(&tracer->start);
    return 0;
}

static int begin(struct tracer *tracer, struct gait_error *err)
{
    int result = 0;

    for (size_t i = 0; i < tracer->request->pid_count && result == 0; i++)
        result = seize_process(tracer, tracer->request->pids[i], err);
    return result != 0 || tracer->request->program == NULL ? result : begin_program(tracer, err);
}

/* Ctrl-C is for the program that we have started; where we only look, it ends the looking. */
static void block_signals(struct tracer *tracer, sigset_t *former_out)
{
    sigset_t blocked;

    sigemptyset(&tracer->signals);
    sigaddset(&tracer->signals, SIGCHLD);
    sigaddset(&tracer->signals, SIGTERM);
    sigaddset(&tracer->signals, SIGHUP);
    if (tracer->request->program == NULL || ends_program(tracer->request))
        sigaddset(&tracer->signals, SIGINT);
    blocked = tracer->signals;
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGQUIT);
    if (tracer->request->interruptible == 4)
        sigaddset(&blocked, SIGTSTP);
    sigprocmask(SIG_BLOCK, &blocked, former_out);
}

static int run(const struct system_call_request *request, int *status_out, struct gait_error *err)
{
    struct tracer tracer = {.request = request};
    sigset_t former;
    int result;

    live_memory_init(&tracer.memory, 0);
    block_signals(&tracer, &former);
    result = begin(&tracer, err);
    if (result == 0)
        result = loop(&tracer, err);
    if (result == 0 && request->program != NULL)
        result = program_start_finish(&tracer.start, request->program[0], err);
    detach_all(&tracer);
    ptrace_threads_clear(&tracer.threads);
    sigprocmask(SIG_SETMASK, &former, NULL);
    if (result == 0)
        *status_out = tracer.has_ended ? tracer.status : 0;
    return result;
}

extern const struct system_call_source system_call_source_ptrace;
const struct system_call_source system_call_source_ptrace = {.name = "ptrace", .run = run};

/* SPDX-License-Identifier: MIT */
/*
 * Three sources, looked at in turn: waitpid (a thread that is watched did something, a child of ours has ended), the
 * notices in the rings, and the processes' descriptors, which become readable at their end. A process that has ended is
 * kept until all that it forked have come: they ask by way of its ring.
 */
#define _GNU_SOURCE
#include "record/family.h"

#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "hosted/system_clock.h"
#include "inject/exec_watch.h"
#include "inject/limits.h"
#include "inject/pid_namespace.h"
#include "inject/stop_signals.h"
#include "inject/trace_refusal.h"
#include "record/drain_pace.h"
#include "record/ring_drain.h"
#include "ring/ring_notice.h"
#include "trace/foreign_roots.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child that was forked has that long to say so after its parent's end; then it was killed before it could. */
#define UNSETTLED_MS 2000
/* A thread that was about to execute a program, and did not for that long, is let go. */
#define WATCH_MS 10000
/* Whether somebody else has begun to trace a process is looked at that often. */
#define TRACERS_MS 500

struct family_member {
    struct target target;
    size_t process; /* in the list of those whose rings are emptied */
    int pidfd;      /* -1: not to be had */
    bool has_ended; /* the process, or its program */
    bool is_over;   /* nothing more comes from it */
    uint64_t ended_ms;
    bool has_tracer; /* somebody else's */
};

struct family_watch {
    struct family_watch *next;
    struct exec_watch exec;
    struct ring_notice *notice; /* that asked for it; NULL: none */
    size_t member;              /* whose ring that is in */
    pid_t parent;
    uint64_t began_ms;
};

/* Counts signals, so that none is missed between a look and a sleep. */
static _Atomic uint32_t child_signals;

static void count_signal(int signal)
{
    (void)signal;
    atomic_fetch_add_explicit(&child_signals, 1, memory_order_seq_cst);
}

static void report(const struct family *family, const char *format, pid_t pid, const char *why)
{
    char text[1024];

    snprintf(text, sizeof(text), format, (int)pid, why);
    if (family->options.report != NULL)
        family->options.report(family->options.context, text);
}

/* ---- members ----------------------------------------------------------------------------------------------------- */

/* Takes the target over, also if it fails. */
static int add_member(struct family *family, struct target *target, pid_t parent, struct gait_error *err)
{
    int result = ARRAY_RESERVE_NEXT(family->members, family->member_count);

    if (result != 0)
        error_set(err, ENOMEM, "no memory");
    else
        result = ring_drain_add(family->drain, target->pid, parent, target->ring_fd, err);
    target_close_ring(target);
    if (result != 0) {
        target_forget(target);
        return result;
    }
    family->members[family->member_count++] = (struct family_member){
        .target = *target,
        .process = family->drain->count - 1,
        .pidfd = (int)syscall(SYS_pidfd_open, target->pid, 0),
    };
    return 0;
}

int family_begin(struct family *family, struct ring_drain *drain, const struct family_options *options,
                 const struct target *first, struct gait_error *err)
{
    struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
    struct target target = *first;

    *family = (struct family){
        .options = *options,
        .drain = drain,
        .first = first->pid,
        .first_status = -1,
        .tracers_ms = system_clock_ms(),
    };
    sigaction(SIGCHLD, &action, NULL);
    return add_member(family, &target, 0, err);
}

int family_join(struct family *family, const struct target *other, struct gait_error *err)
{
    struct target target = *other;

    return add_member(family, &target, 0, err);
}

static struct family_member *find_member(const struct family *family, pid_t pid)
{
    for (size_t i = 0; i < family->member_count; i++)
        if (family->members[i].target.pid == pid && !family->members[i].has_ended)
            return &family->members[i];
    return NULL;
}

static void note_end(struct family_member *member)
{
    if (member->has_ended)
        return;
    member->has_ended = true;
    member->ended_ms = system_clock_ms();
}

static void first_ended(struct family *family, int status)
{
    struct family_member *member = find_member(family, family->first);

    family->first_has_ended = true;
    family->first_status = status;
    ring_drain_set_status(family->drain, family->first, status);
    if (member != NULL)
        note_end(member);
}

/* Those that are ours are told by waitpid, with their status. */
static void look_for_ends(struct family *family)
{
    int status;

    if (family->options.is_child && !family->first_has_ended && tracee_take_end(family->first, &status))
        first_ended(family, status);
    for (size_t i = 0; i < family->member_count; i++) {
        struct family_member *member = &family->members[i];
        struct pollfd process = {.fd = member->pidfd, .events = POLLIN};

        if (member->has_ended || (family->options.is_child && member->target.pid == family->first))
            continue;
        if (member->pidfd == -1 ? kill(member->target.pid, 0) != 0 && errno == ESRCH : poll(&process, 1, 0) == 1) {
            note_end(member);
            if (member->target.pid == family->first)
                family->first_has_ended = true;
        }
    }
}

/* Whether a process that it forked may still ask by way of its ring. */
static bool is_settled(const struct family *family, const struct family_member *member)
{
    const struct ring_notices *notices = ring_drain_notices(family->drain, member->process);

    /* A process that runs natively may fork without saying so before. */
    return (int32_t)(atomic_load_explicit(&notices->forks_settled, memory_order_seq_cst) -
                     atomic_load_explicit(&notices->forks_begun, memory_order_seq_cst)) >= 0 ||
           system_clock_ms() - member->ended_ms > UNSETTLED_MS;
}

/* Nobody reads them any more: whoever asks, a child that comes late, need not wait. */
static void refuse_notices(struct ring_notices *notices)
{
    if (notices == NULL)
        return;
    atomic_store_explicit(&notices->is_closed, 1, memory_order_seq_cst);
    for (unsigned j = 0; j < RING_NOTICE_COUNT; j++) {
        uint32_t state = atomic_load_explicit(&notices->notices[j].state, memory_order_acquire);

        if (state == RING_NOTICE_POSTED)
            ring_notice_answer(&notices->notices[j], -ECANCELED);
        else if (state == RING_NOTICE_OVER)
            ring_notice_release(&notices->notices[j]);
    }
}

static void forget_notices_of(struct family *family, size_t member)
{
    for (struct family_watch *watch = family->watches; watch != NULL; watch = watch->next)
        if (watch->member == member)
            watch->notice = NULL;
}

/* After all that they wrote was drained. */
static int end_members(struct family *family, const bool *are_drained, struct gait_error *err)
{
    int first = 0;

    for (size_t i = 0; i < family->member_count; i++) {
        struct family_member *member = &family->members[i];
        int result;

        if (member->is_over || !are_drained[i])
            continue;
        member->is_over = true;
        refuse_notices(ring_drain_notices(family->drain, member->process));
        forget_notices_of(family, i);
        if (member->pidfd != -1)
            close(member->pidfd);
        member->pidfd = -1;
        target_forget(&member->target);
        result = ring_drain_end_process(family->drain, member->process, first == 0 ? err : NULL);
        if (first == 0)
            first = result;
    }
    return first;
}

/* ---- watches ----------------------------------------------------------------------------------------------------- */

static struct family_watch *add_watch(struct family *family)
{
    struct family_watch *watch = calloc(1, sizeof(*watch));

    if (watch == NULL)
        return NULL;
    watch->began_ms = system_clock_ms();
    watch->member = SIZE_MAX;
    watch->next = family->watches;
    family->watches = watch;
    return watch;
}

static void remove_watch(struct family *family, struct family_watch *watch)
{
    struct family_watch **place = &family->watches;

    while (*place != watch)
        place = &(*place)->next;
    *place = watch->next;
    free(watch);
}

static struct family_watch *find_watch(const struct family *family, pid_t tid)
{
    struct family_watch *watch = family->watches;

    while (watch != NULL && watch->exec.tracee.tid != tid)
        watch = watch->next;
    /* A thread that executes a program is then called like its process. */
    for (struct family_watch *other = family->watches; watch == NULL && other != NULL; other = other->next)
        if (other->exec.kind == EXEC_WATCH_THREAD && other->exec.tracee.pid == tid)
            watch = other;
    return watch;
}

/* A process that is traced since its parent was: the kernel may tell of it before it does of its parent. */
static struct family_watch *watch_child(struct family *family, pid_t pid, pid_t parent)
{
    struct family_watch *watch = find_watch(family, pid);

    if (watch == NULL) {
        watch = add_watch(family);
        if (watch == NULL)
            return NULL;
        exec_watch_begin_child(&watch->exec, pid);
    }
    if (parent != 0)
        watch->parent = parent;
    return watch;
}

static void note_early(struct family *family, pid_t pid)
{
    family->early[family->early_count++ % FAMILY_EARLY_MAX] = pid;
}

static bool take_early(struct family *family, pid_t pid)
{
    for (unsigned i = 0; i < FAMILY_EARLY_MAX; i++)
        if (family->early[i] == pid) {
            family->early[i] = 0;
            return true;
        }
    return false;
}

/* A parent that was watched has made a process. */
static void parent_known(struct family *family, pid_t child, pid_t parent)
{
    const struct family_member *member = find_member(family, child);

    if (!take_early(family, child))
        (void)watch_child(family, child, parent);
    else if (member != NULL)
        ring_drain_set_parent(family->drain, member->process, parent);
}

static void release_notice(struct family_watch *watch)
{
    if (watch->notice != NULL)
        ring_notice_release(watch->notice);
    watch->notice = NULL;
}

/* The process of the watch executes a program that is recorded from its first instruction. */
static int begin_program(struct family *family, struct family_watch *watch, struct gait_error *err)
{
    struct tracee *thread = &watch->exec.tracee;
    struct family_member *before = find_member(family, thread->pid);
    pid_t parent = watch->parent;
    struct target target;
    struct gait_error why;
    int result;

    if (before != NULL) {
        note_end(before);
        parent = family->drain->processes[before->process].parent;
    }
    if (family->options.executed != NULL)
        family->options.executed(family->options.context, thread->pid);
    result = target_start(thread, family->options.agent, &target, &why);
    if (family->options.roots != NULL)
        foreign_roots_note(family->options.roots, thread->pid);
    tracee_detach(thread);
    if (result == 0) {
        result = add_member(family, &target, parent, &why);
        if (result != 0 && !limits_is_lack(result)) {
            *err = why;
            return result;
        }
    }
    if (result != 0 && result != -ESRCH)
        report(family, "the program that process %d executes now is not recorded: %s", thread->pid, why.text);
    return 0;
}

/* The process of the watch executes a program that is not recorded. */
static void program_left(const struct family *family, const struct family_watch *watch)
{
    const struct tracee *thread = &watch->exec.tracee;
    struct family_member *member = find_member(family, thread->pid);

    /* It may fail to execute it, and go on as it was. */
    if (member != NULL && thread->tid == thread->pid && watch->exec.kind == EXEC_WATCH_THREAD &&
        !watch->exec.checks_calls)
        note_end(member);
    report(family, "process %d executes a program that is not recorded: it %s", thread->pid,
           "has privileges of its own, or is for another kind of CPU");
}

static int go_on(struct family *family, struct family_watch *watch, int status, struct gait_error *err)
{
    pid_t child = 0, pid = watch->exec.tracee.pid;
    int result = 0;

    switch (exec_watch_go_on(&watch->exec, status, &child)) {
    case EXEC_WATCH_ON:
        return 0;
    case EXEC_WATCH_EXECUTED:
        result = begin_program(family, watch, err);
        break;
    case EXEC_WATCH_MADE:
        release_notice(watch);
        parent_known(family, child, pid);
        break;
    case EXEC_WATCH_MADE_ON:
        parent_known(family, child, pid);
        return 0;
    case EXEC_WATCH_LEFT:
        program_left(family, watch);
        break;
    case EXEC_WATCH_TAKEN:
        report(family, "process %d is not recorded: it %s", pid, "is traced by its parent");
        break;
    case EXEC_WATCH_ENDED:
        break;
    }
    if (watch->exec.kind == EXEC_WATCH_CHILD && watch->parent == 0)
        note_early(family, pid);
    remove_watch(family, watch);
    return result;
}

static int take_signs(struct family *family, struct gait_error *err)
{
    int status, result = 0;
    pid_t tid;

    while (result == 0 && (tid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
        struct family_watch *watch = find_watch(family, tid);

        if (watch == NULL && WIFSTOPPED(status))
            watch = watch_child(family, tid, 0);
        if (watch != NULL)
            result = go_on(family, watch, status, err);
        if (!WIFSTOPPED(status) && family->options.is_child && tid == family->first)
            first_ended(family, status);
    }
    return result;
}

static void end_watch(struct family *family, struct family_watch *watch)
{
    exec_watch_end(&watch->exec);
    release_notice(watch);
    remove_watch(family, watch);
}

static void end_old_watches(struct family *family)
{
    struct family_watch *watch = family->watches, *next;

    for (; watch != NULL; watch = next) {
        next = watch->next;
        if (watch->exec.kind != EXEC_WATCH_CHILD && system_clock_ms() - watch->began_ms > WATCH_MS)
            end_watch(family, watch);
    }
}

/* ---- notices ----------------------------------------------------------------------------------------------------- */

static int adopt(struct family *family, size_t parent, struct ring_notice *notice, struct gait_error *err)
{
    const struct target *target = &family->members[parent].target;
    pid_t parent_pid = target->pid;
    struct gait_error why;
    struct target child;
    int result = target_adopt(target, (pid_t)notice->pid, notice->fd, notice->cookie, &child), added = 0;

    if (result == 0)
        result = added = add_member(family, &child, parent_pid, &why);
    ring_notice_answer(notice, result);
    /* One that was killed meanwhile is no error of ours. */
    if (added == 0)
        return 0;
    /* There may be more processes than we have room for; the others go on being recorded. */
    if (limits_is_lack(added)) {
        report(family, "process %d is not recorded: %s", child.pid, why.text);
        return 0;
    }
    *err = why;
    return added;
}

static void watch_for(struct family *family, size_t member, struct ring_notice *notice)
{
    pid_t pid = family->members[member].target.pid, tid = pid_namespace_outer_tid(pid, (pid_t)notice->tid);
    enum exec_watch_kind kind = notice->kind == RING_NOTICE_EXEC ? EXEC_WATCH_THREAD : EXEC_WATCH_PARENT;
    struct family_watch *watch = tid == 0 ? NULL : add_watch(family);
    int result = watch == NULL ? -ESRCH : exec_watch_begin(&watch->exec, kind, pid, tid);

    if (result == 0) {
        watch->notice = notice;
        watch->member = member;
        watch->parent = pid;
    } else if (watch != NULL) {
        remove_watch(family, watch);
    }
    if (result == -EPERM)
        report(family, "a program that process %d executes is not recorded: %s", pid,
               "it is traced by another process, or tracing is forbidden");
    ring_notice_answer(notice, result);
}

/* What was announced did not happen. */
static void let_go(struct family *family, struct ring_notice *notice)
{
    for (struct family_watch *watch = family->watches; watch != NULL; watch = watch->next)
        if (watch->notice == notice) {
            end_watch(family, watch);
            return;
        }
    ring_notice_release(notice);
}

static int take_notice(struct family *family, size_t member, struct ring_notice *notice, struct gait_error *err)
{
    switch (atomic_load_explicit(&notice->state, memory_order_acquire)) {
    case RING_NOTICE_POSTED:
        if (notice->kind == RING_NOTICE_CHILD)
            return adopt(family, member, notice, err);
        watch_for(family, member, notice);
        return 0;
    case RING_NOTICE_OVER:
        let_go(family, notice);
        return 0;
    default:
        return 0;
    }
}

static int take_notices(struct family *family, struct gait_error *err)
{
    int result = 0;

    for (size_t i = 0; i < family->member_count; i++) {
        struct ring_notices *notices = ring_drain_notices(family->drain, family->members[i].process);

        for (unsigned j = 0; notices != NULL && result == 0 && j < RING_NOTICE_COUNT; j++)
            result = take_notice(family, i, &notices->notices[j], err);
    }
    return result;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* Debuggers change the code that is there, and followed threads run a translation of what was. */
static void look_for_tracers(struct family *family)
{
    char who[128];

    if (family->options.agent->events & EVENTS_HOOKED || system_clock_ms() - family->tracers_ms < TRACERS_MS)
        return;
    family->tracers_ms = system_clock_ms();
    for (size_t i = 0; i < family->member_count; i++) {
        struct family_member *member = &family->members[i];
        bool had_tracer = member->has_tracer;

        member->has_tracer = !member->has_ended && trace_refusal_tracer(member->target.pid, who, sizeof(who));
        if (member->has_tracer && !had_tracer)
            report(family,
                   "process %d is also traced by %s: its breakpoints in code that gait follows have no effect; use "
                   "gait detach first, or record with --hook",
                   member->target.pid, who);
    }
}

/* Which members have nothing more to come, once what is there now is drained. */
static bool *look_who_is_done(const struct family *family)
{
    bool *are_done = calloc(family->member_count + 1, sizeof(*are_done));

    for (size_t i = 0; are_done != NULL && i < family->member_count; i++) {
        const struct family_member *member = &family->members[i];

        are_done[i] = !member->is_over && member->has_ended && is_settled(family, member);
    }
    return are_done;
}

static int look(struct family *family, struct gait_error *err)
{
    size_t count;
    bool *are_done;
    int result;

    family->signals_seen = atomic_load_explicit(&child_signals, memory_order_seq_cst);
    result = take_signs(family, err);
    look_for_ends(family);
    end_old_watches(family);
    look_for_tracers(family);
    count = family->member_count;
    are_done = look_who_is_done(family);
    if (are_done == NULL)
        return error_set(err, ENOMEM, "no memory");
    if (result == 0)
        result = ring_drain_take(family->drain, err);
    /* Behind the drain: what is posted from now on ends the next sleep. */
    if (result == 0)
        result = take_notices(family, err);
    if (result == 0 && count == family->member_count)
        result = end_members(family, are_done, err);
    free(are_done);
    return result;
}

static void sleep_until_more(const struct family *family, unsigned timeout_ms)
{
    const struct ring_wait_word signals = {&child_signals, family->signals_seen};

    ring_drain_wait(family->drain, signals, timeout_ms);
}

bool family_is_over(const struct family *family)
{
    if ((family->options.is_child && !family->first_has_ended) || family->watches != NULL)
        return false;
    for (size_t i = 0; i < family->member_count; i++)
        if (!family->members[i].is_over)
            return false;
    return true;
}

bool family_first_has_ended(const struct family *family, int *status_out)
{
    *status_out = family->first_status;
    return family->first_has_ended;
}

static int step(struct family *family, const struct family_run_options *run, struct gait_error *err)
{
    int result;

    if (run->before != NULL)
        run->before(run->context);
    result = look(family, err);
    return result == 0 && run->behind != NULL ? run->behind(run->context, err) : result;
}

/* A child has the terminal, and what is typed there is for it; when only others are left, it is for us. */
static bool is_to_end(const struct family *family, const struct family_run_options *run)
{
    if (run->typed_is_for_first && family->options.is_child && !family->first_has_ended)
        stop_signals_forget_typed();
    return stop_signals_were_sent() || stop_signals_were_typed() ||
           (run->is_to_end != NULL && run->is_to_end(run->context));
}

enum family_run_end family_run(struct family *family, const struct family_run_options *run, struct gait_error *err)
{
    struct drain_pace pace = {.silent_ms = 0};

    for (;;) {
        uint64_t taken_bytes = family->drain->taken_bytes;
        /* Asked before the look, which takes all that it did. */
        bool is_last = run->only_first && family->first_has_ended;

        if (step(family, run, err) != 0)
            return FAMILY_FAILED;
        if (family_is_over(family))
            return FAMILY_OVER;
        if (is_last || is_to_end(family, run))
            return FAMILY_STOPPED;
        if (!run->only_first || !family->first_has_ended)
            sleep_until_more(family, drain_pace_next(&pace, family->drain->taken_bytes != taken_bytes));
    }
}

/* ---- leaving ----------------------------------------------------------------------------------------------------- */

/* Nobody waits for us any more, nor will. */
static void close_notices(struct family *family)
{
    while (family->watches != NULL)
        end_watch(family, family->watches);
    for (size_t i = 0; i < family->member_count; i++)
        refuse_notices(ring_drain_notices(family->drain, family->members[i].process));
}

int family_detach(struct family *family, struct gait_error *err)
{
    struct gait_error why;
    int first = 0;

    close_notices(family);
    for (size_t i = 0; i < family->member_count; i++) {
        struct family_member *member = &family->members[i];
        int result;

        if (member->has_ended)
            continue;
        result = target_detach(&member->target, &why);
        close_notices(family);
        if (result == 0 || result == -ESRCH)
            continue;
        if (first == 0) {
            first = result;
            *err = why;
        }
    }
    look_for_ends(family);
    return first;
}

/* False: it has been waited for already. */
static bool wait_for_child(pid_t pid, int *status_out)
{
    while (waitpid(pid, status_out, 0) == -1)
        if (errno != EINTR)
            return false;
    return true;
}

void family_wait_for_first(struct family *family)
{
    int status;

    if (!family->options.is_child || family->first_has_ended)
        return;
    if (wait_for_child(family->first, &status) || tracee_take_end(family->first, &status))
        first_ended(family, status);
}

void family_end(struct family *family)
{
    while (family->watches != NULL)
        end_watch(family, family->watches);
    for (size_t i = 0; i < family->member_count; i++) {
        if (family->members[i].pidfd != -1)
            close(family->members[i].pidfd);
        target_forget(&family->members[i].target);
    }
    free(family->members);
    *family = (struct family){0};
}

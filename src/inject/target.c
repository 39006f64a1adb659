/* SPDX-License-Identifier: MIT */
/*
 * One thread, the first one of the process, is sent to the agent, and makes for the others what they need: their
 * registers go to the agent in a list and come back changed. Until a thread is let go, nothing has happened to it, and
 * if we die, each one is either as it was or followed.
 */
#include "inject/target.h"

#include "base/time_counter.h"
#include "hosted/error_text.h"
#include "inject/agent_load.h"
#include "inject/limits.h"
#include "inject/machine_check.h"
#include "inject/other_recorder.h"
#include "inject/pid_namespace.h"
#include "inject/seccomp_check.h"
#include "inject/self_memory.h"
#include "inject/shared_memory.h"
#include "inject/spawn.h"
#include "inject/thread_dispatch.h"
#include "inject/thread_group.h"
#include "ring/ring_notice.h"
#include "ring/ring_presence.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STOPS_MAX       3
#define PROGRAMS_MAX    16
#define TRIES_MAX       2000
#define TRY_NANOSECONDS 5000000

/* Calls are too large for the stack, and there is one at a time. */
static struct agent_call call;

/* A descriptor of another process; negative: an error. */
static int take_fd(pid_t pid, int fd)
{
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    int taken = process == -1 ? -errno : (int)syscall(SYS_pidfd_getfd, process, fd, 0);

    if (process == -1)
        return taken;
    if (taken == -1)
        taken = -errno;
    close(process);
    return taken;
}

/* Before any thread is followed the process can see that we are there, and would see that we are not. */
static int take_ring(struct target *target, struct gait_error *err)
{
    int fd = take_fd(target->pid, call.ring_fd);

    if (fd < 0)
        return error_set(err, fd, "cannot take over the ring of process %d: %s", (int)target->pid, strerror(-fd));
    target->ring_fd = fd;
    /* Without it, the process does not notice if we are killed, until its buffers are full. */
    (void)!ring_presence_begin(fd, &target->presence);
    return 0;
}

static uint64_t new_cookie(void)
{
    uint64_t cookie;

    return getrandom(&cookie, sizeof(cookie), GRND_NONBLOCK) == sizeof(cookie) ? cookie : time_counter();
}

/* Whether the agent is still where it was: the process may execute another program by now. */
static bool has_agent(const struct target *target)
{
    uint64_t cookie;

    return process_memory_read(target->pid, target->agent.call + offsetof(struct agent_call, cookie), &cookie,
                               sizeof(cookie)) == 0 &&
           cookie == target->cookie;
}

/* What the process lacks, which is not always to be guessed from the error's name. */
static const char *hint_at(int result)
{
    switch (result) {
    case -ENOMEM:
        return "; some 3 GiB of address space are needed there (ulimit -v)";
    case -ENOENT:
        return "; it has no /proc to find its code in, since that is not mounted below its root, or covered";
    case -EFBIG:
        return "; it may not make files that large, not even in memory (ulimit -f)";
    case -EMFILE:
    case -ENFILE:
        return "; it can open no more files (ulimit -n)";
    default:
        return call.is_counter_forbidden
                   ? "; it forbids itself to read the counter of time (PR_SET_TSC), so it can only be hooked (--hook)"
                   : "";
    }
}

static int call_agent(struct target *target, struct tracee *thread, enum agent_operation operation, const char *doing,
                      struct gait_error *err)
{
    struct agent_dispatch dispatch = {.mode = 0};
    struct limits_loan loan;
    int result;

    if (operation != AGENT_PREPARE && operation != AGENT_START && !has_agent(target))
        return error_set(err, ESRCH, "process %d executes another program by now", (int)target->pid);
    call.cookie = target->cookie;
    call.operation = operation;
    call.may_change_counter = target->may_change_counter;
    limits_loan_begin(&loan, target->pid);
    dispatch = operation == AGENT_START ? dispatch : thread_dispatch_pause(thread);
    result = operation == AGENT_START ? remote_agent_start(thread, &target->agent, &call)
                                      : remote_agent_call(thread, &target->agent, &call);
    thread_dispatch_resume(thread, &dispatch);
    limits_loan_end(&loan);
    if (result == 0)
        result = call.result;
    target->followed_count = call.followed_count;
    target->hooked_count = call.hooked_count;
    if (result == 0)
        return 0;
    return error_set(err, result, "cannot %s process %d: the agent reports: %s%s", doing, (int)target->pid,
                     strerror(-result), hint_at(result));
}

/* ---- all threads ------------------------------------------------------------------------------------------------- */

/* Fills the list with threads from `first` on, as many as fit. */
static int list_threads(const struct thread_group *group, size_t first)
{
    call.thread_count = 0;
    for (size_t i = first; i < group->count && call.thread_count < AGENT_THREADS_AT_ONCE; i++) {
        struct agent_thread *listed = &call.threads[call.thread_count++];
        int result = tracee_get_registers(&group->threads[i], &listed->registers);

        if (result != 0)
            return result;
        listed->tid = group->threads[i].tid;
        if (group->is_elsewhere)
            listed->tid = pid_namespace_inner_tid(group->pid, listed->tid);
        listed->result = 1;
        listed->dispatch = (struct agent_dispatch){.mode = 0};
    }
    return 0;
}

/* Sets what the agent changed. The leader, which is in the agent, has its own already. */
static int set_threads(const struct thread_group *group, size_t first, const struct tracee *leader)
{
    for (uint32_t i = 0; i < call.thread_count; i++) {
        struct tracee *thread = &group->threads[first + i];
        int result = 0;

        thread->dispatch = call.threads[i].dispatch;
        if (call.threads[i].result == 0 && thread != leader)
            result = tracee_set_registers(thread, &call.threads[i].registers);
        if (result != 0 && result != -ESRCH)
            return result;
    }
    return 0;
}

/* Has the agent do something about threads from `first` on. */
static int do_to_threads(struct target *target, const struct thread_group *group, size_t first, struct tracee *leader,
                         enum agent_operation operation, struct gait_error *err)
{
    for (; first < group->count; first += AGENT_THREADS_AT_ONCE) {
        int result = list_threads(group, first);

        if (result == 0)
            result = call_agent(target, leader, operation, "follow", err);
        if (result == 0)
            result = set_threads(group, first, leader);
        if (result != 0)
            return result;
    }
    return 0;
}

/* ---- beginning --------------------------------------------------------------------------------------------------- */

/* A new call with the options. What is not used of them is not touched, which would take time, and memory. */
static void begin_call(const struct agent_options *options, bool is_whole)
{
    memset(&call, 0, offsetof(struct agent_call, threads));
    memcpy(&call.options, options, agent_options_bytes(options));
    memcpy(&call.options.known, &options->known, agent_known_bytes(&options->known));
    memcpy(&call.options.places, &options->places, agent_places_bytes(&options->places));
    call.options.is_whole = is_whole;
}

/* By means of the thread. is_whole: it is at its first instruction. */
static int load_agent(struct target *target, struct tracee *thread, const struct agent_options *options, bool is_whole,
                      struct gait_error *err)
{
    int result = machine_check_thread(thread, err);

    if (result == 0)
        result = seccomp_check_all(thread, &target->may_change_counter, err);
    if (result == 0)
        result = agent_load(thread, &target->agent, err);
    if (result != 0)
        return result;
    begin_call(options, is_whole);
    call.options.is_self_writing = target->is_self_writing;
    call.file_fd = target->agent.file_fd;
    call.has_file_fd = target->agent.file_fd >= 0;
    call.segment_count = target->agent.segment_count;
    memcpy(call.segments, target->agent.segments, sizeof(call.segments));
    target->cookie = new_cookie();
    return 0;
}

/* Loads the agent, and has it do what it can before anything happens to threads. */
static int prepare(struct target *target, struct tracee *thread, const struct agent_options *options, bool is_whole,
                   struct gait_error *err)
{
    int result = load_agent(target, thread, options, is_whole, err);

    if (result == 0)
        result = call_agent(target, thread, AGENT_PREPARE, "follow", err);
    thread->is_fresh = false;
    return result == 0 ? take_ring(target, err) : result;
}

/* The same and what follows from it, of a program that is about to begin: at once. */
static int start(struct target *target, struct tracee *thread, const struct agent_options *options,
                 struct gait_error *err)
{
    int result = load_agent(target, thread, options, true, err);

    if (result == 0)
        result = call_agent(target, thread, AGENT_START, "follow", err);
    thread->is_fresh = false;
    if (result == 0)
        result = take_ring(target, err);
    /* If not, the thread leaves again as soon as it is let go. */
    return result == 0 ? remote_agent_let_start(thread, &target->agent) : result;
}

/*
 * Follows the thread, and the others of the group, if there is one. Before functions are hooked, threads are taken out
 * of the code that will change: so if we die, each is well.
 */
static int begin(struct target *target, struct tracee *thread, const struct thread_group *group,
                 const struct agent_options *options, struct gait_error *err)
{
    bool is_hooked = options->events & EVENTS_HOOKED;
    int result = 0;

    if (group != NULL && is_hooked)
        result = do_to_threads(target, group, 1, thread, AGENT_FOLLOW, err);
    if (result == 0)
        result = call_agent(target, thread, AGENT_BEGIN, "follow", err);
    if (result == 0 && group != NULL && !is_hooked)
        result = do_to_threads(target, group, 1, thread, AGENT_FOLLOW, err);
    return result;
}

/* Nothing has begun. */
static int give_up(struct target *target, struct tracee *thread, int result, struct gait_error *err)
{
    struct gait_error why, before = *err;

    /* Where another program is by now, something else may be at the agent's place. */
    if (target->agent.start == 0 || target->followed_count != 0 || !has_agent(target))
        return result;
    (void)!call_agent(target, thread, AGENT_END, "leave", &why);
    if (agent_unload(thread, &target->agent, &why) != 0)
        return error_set(err, result, "%s; nor can it be taken out again: %s", before.text, why.text);
    return result;
}

int target_begin(struct tracee *thread, const struct agent_options *options, struct target *target_out,
                 struct gait_error *err)
{
    int result;

    *target_out = (struct target){.pid = thread->pid, .ring_fd = -1, .presence = -1};
    result = prepare(target_out, thread, options, true, err);
    if (result == 0)
        result = begin(target_out, thread, NULL, options, err);
    return result == 0 ? 0 : give_up(target_out, thread, result, err);
}

int target_start(struct tracee *thread, const struct agent_options *options, struct target *target_out,
                 struct gait_error *err)
{
    bool is_hooked = options->events & EVENTS_HOOKED;
    int result;

    /* Whoever hooks functions while nobody has the ring leaves a program that writes into it for nobody. */
    if (is_hooked || !remote_agent_can_start(thread))
        return target_begin(thread, options, target_out, err);
    *target_out = (struct target){.pid = thread->pid, .ring_fd = -1, .presence = -1};
    result = start(target_out, thread, options, err);
    return result == 0 ? 0 : give_up(target_out, thread, result, err);
}

/* The ring that is looked for. */
struct ring_search {
    int fd;
    uint64_t cookie;
    int taken;
};

static bool has_ring(void *context, pid_t pid)
{
    struct ring_search *search = context;
    int fd = take_fd(pid, search->fd);
    struct ring_notices notices;

    if (fd < 0)
        return false;
    if (pread(fd, &notices, sizeof(notices), RING_NOTICES_OFFSET) == sizeof(notices) &&
        notices.cookie == search->cookie) {
        search->taken = fd;
        return true;
    }
    close(fd);
    return false;
}

int target_adopt(const struct target *parent, pid_t inner_pid, int ring_fd, uint64_t cookie, struct target *target_out)
{
    struct ring_search search = {.fd = ring_fd, .cookie = cookie, .taken = -1};
    pid_t pid = pid_namespace_find_process(inner_pid, has_ring, &search);

    if (pid == 0)
        return -ESRCH;
    *target_out = (struct target){
        .pid = pid,
        .agent = parent->agent,
        .cookie = parent->cookie,
        .ring_fd = search.taken,
        .presence = -1,
        .followed_count = 1,
    };
    (void)!ring_presence_begin(search.taken, &target_out->presence);
    return 0;
}

int target_spawn(char *const arguments[], const struct agent_options *options, struct target *target_out,
                 struct gait_error *err)
{
    struct tracee thread;
    int result = spawn_stopped(arguments, &thread, err);

    if (result == 0) {
        result = target_start(&thread, options, target_out, err);
        if (result == 0)
            tracee_detach(&thread);
        else
            spawn_abandon(&thread, result);
    }
    if (result != 0)
        target_out->killed_by = thread.killed_by;
    return result;
}

/* -EALREADY: somebody records it. */
static int refuse_second(pid_t pid, struct gait_error *err)
{
    pid_t reader = 0;

    return other_recorder_find(pid, &reader) == OTHER_RECORDER_LIVES ? other_recorder_explain(pid, reader, err) : 0;
}

/* While the other threads run: what takes time is done before they are stopped. */
static int prepare_by_one(struct target *target, const struct agent_options *options, struct gait_error *err)
{
    struct thread_group one;
    int result = thread_group_stop_one(&one, target->pid, err);

    if (result != 0)
        return result;
    /* As long as we trace it nobody else begins. */
    result = refuse_second(target->pid, err);
    if (result == 0)
        result = thread_dispatch_check(&one.threads[0], err);
    if (result == 0)
        result = prepare(target, &one.threads[0], options, false, err);
    if (result != 0)
        result = give_up(target, &one.threads[0], result, err);
    (void)thread_group_release(&one);
    return result;
}

/* Stops all threads while no child is in their memory, which nobody stops; of one that stays there, after a while. */
static int stop_alone(struct thread_group *group, pid_t pid, struct gait_error *err)
{
    for (unsigned i = 0;; i++) {
        int result = thread_group_stop(group, pid, err);

        if (result != 0 || i == STOPS_MAX || !shared_memory_has_child(pid))
            return result;
        (void)thread_group_release(group);
        result = shared_memory_wait(pid, err);
        if (result != 0)
            return result;
    }
}

/* With all threads stopped, and the agent prepared. */
static int begin_in_group(struct target *target, struct thread_group *group, const struct agent_options *options,
                          struct gait_error *err)
{
    struct tracee *leader = &group->threads[0];
    struct gait_error why;
    int result = 0;

    for (size_t i = 0; i < group->count && result == 0; i++)
        result = thread_dispatch_check(&group->threads[i], err);
    if (result != 0)
        return give_up(target, leader, result, err);
    result = begin(target, leader, group, options, err);
    if (result == 0)
        return 0;
    /* Threads that were taken out of code that was to change go back to it. */
    if (options->events & EVENTS_HOOKED)
        (void)!do_to_threads(target, group, 0, leader, AGENT_LEAVE, &why);
    return give_up(target, leader, result, err);
}

/* -EAGAIN: the process has executed another program meanwhile, in which there is nothing of ours. */
static int try_attach_alone(pid_t pid, const struct agent_options *options, struct target *target_out,
                            struct gait_error *err)
{
    struct thread_group group;
    int result;

    *target_out = (struct target){.pid = pid, .ring_fd = -1, .presence = -1};
    target_out->is_self_writing = self_memory_is_open(pid);
    result = machine_check_process(pid, err);
    if (result == 0)
        result = shared_memory_wait(pid, err);
    if (result == 0)
        result = prepare_by_one(target_out, options, err);
    if (result == 0)
        result = stop_alone(&group, pid, err);
    if (result != 0)
        return result;
    result = has_agent(target_out) ? begin_in_group(target_out, &group, options, err) : -EAGAIN;
    target_out->standstill_ns = thread_group_release(&group);
    return result;
}

/*
 * What is left of a recorder that was killed, or in a child that was not recorded, has to go before another agent
 * comes: what it has changed is no original code.
 */
static int take_out_left(pid_t pid, const struct agent_options *options, struct gait_error *err)
{
    struct target left = {.pid = pid, .ring_fd = -1, .presence = -1};
    pid_t reader = 0;
    int result = agent_load_find(pid, &left.agent);

    if (result == -ENOENT && options->events & EVENTS_HOOKED &&
        other_recorder_find(pid, &reader) == OTHER_RECORDER_DIED)
        return error_set(err, EBUSY,
                         "process %d still has in it what a gait of another version has left there, whose recorder was "
                         "killed: its functions cannot be hooked before it is started anew",
                         (int)pid);
    if (result != 0)
        return 0;
    result = process_memory_read(pid, left.agent.call, &call, offsetof(struct agent_call, threads));
    if (result != 0)
        return error_set(err, result, "cannot read the memory of process %d: %s", (int)pid, strerror(-result));
    left.cookie = call.cookie;
    left.may_change_counter = call.may_change_counter;
    result = target_detach(&left, err);
    /* Somebody else has done it meanwhile, or it executes another program. */
    return result == -ESRCH ? 0 : result;
}

static int try_attach(pid_t pid, const struct agent_options *options, struct target *target_out, struct gait_error *err)
{
    int result = refuse_second(pid, err);

    *target_out = (struct target){.pid = pid, .ring_fd = -1, .presence = -1};
    if (result == 0)
        result = take_out_left(pid, options, err);
    return result == 0 ? try_attach_alone(pid, options, target_out, err) : result;
}

int target_attach(pid_t pid, const struct agent_options *options, struct target *target_out, struct gait_error *err)
{
    for (unsigned i = 0; i < PROGRAMS_MAX; i++) {
        int result = try_attach(pid, options, target_out, err);

        if (result != -EAGAIN)
            return result;
        target_forget(target_out);
    }
    return error_set(err, EAGAIN, "cannot follow process %d: it keeps executing other programs; try again later",
                     (int)pid);
}

/* ---- leaving ----------------------------------------------------------------------------------------------------- */

/* Meets all threads once, and takes out those that can be. */
static int try_leave(struct target *target, struct gait_error *err)
{
    struct thread_group group;
    int result = thread_group_stop(&group, target->pid, err);

    if (result != 0)
        return result;
    result = do_to_threads(target, &group, 0, &group.threads[0], AGENT_LEAVE, err);
    target->standstill_ns = thread_group_release(&group);
    return result;
}

/* For who takes away what a child may be running in. -EBUSY: there is one in the process's memory. */
static int stop_without_child(struct thread_group *group, pid_t pid, struct gait_error *err)
{
    int result = thread_group_stop(group, pid, err);

    if (result != 0 || !shared_memory_has_child(pid))
        return result;
    (void)thread_group_release(group);
    return error_set(err, EBUSY, "cannot leave process %d while a child that it made by vfork is in its memory",
                     (int)pid);
}

/* With no thread followed any more. -EBUSY: one is not quite out of the agent's hands. */
static int try_end(struct target *target, struct gait_error *err)
{
    struct thread_group group;
    int result = stop_without_child(&group, target->pid, err);

    if (result != 0)
        return result;
    result = do_to_threads(target, &group, 0, &group.threads[0], AGENT_LOOK, err);
    if (result == 0)
        result = call_agent(target, &group.threads[0], AGENT_END, "leave", err);
    for (size_t i = 0; result == 0 && i < group.count; i++)
        thread_dispatch_resume(&group.threads[i], &group.threads[i].dispatch);
    target->standstill_ns = thread_group_release(&group);
    return result;
}

static int try_unload(struct target *target, struct gait_error *err)
{
    struct agent_dispatch dispatch;
    struct thread_group group;
    int result = stop_without_child(&group, target->pid, err);

    if (result != 0)
        return result;
    for (size_t i = 0; result == 0 && i < group.count; i++) {
        struct thread_registers registers;

        result = has_agent(target) ? tracee_get_registers(&group.threads[i], &registers) : -ESRCH;
        if (result == 0 && thread_registers_pc(&registers) - target->agent.start < target->agent.size_bytes)
            result = -EBUSY;
    }
    dispatch = thread_dispatch_pause(&group.threads[0]);
    if (result == 0)
        result = seccomp_check_unload(&group.threads[0], err);
    if (result == 0)
        result = agent_unload(&group.threads[0], &target->agent, err);
    thread_dispatch_resume(&group.threads[0], &dispatch);
    (void)thread_group_release(&group);
    return result;
}

/* Again and again, as long as threads are where they cannot leave. */
static int repeat(struct target *target, int (*try)(struct target *target, struct gait_error *err),
                  struct gait_error *err)
{
    static const struct timespec pause = {0, TRY_NANOSECONDS};
    int result = -EBUSY;

    for (unsigned i = 0; i < TRIES_MAX && (result == -EBUSY || result == -EAGAIN); i++) {
        if (i > 0)
            nanosleep(&pause, NULL);
        result = try(target, err);
    }
    return result;
}

static int leave_until_all_did(struct target *target, struct gait_error *err)
{
    int result = try_leave(target, err);

    return result == 0 && target->followed_count != 0 ? -EBUSY : result;
}

int target_detach(struct target *target, struct gait_error *err)
{
    int result = repeat(target, leave_until_all_did, err);

    if (result == 0)
        result = repeat(target, try_end, err);
    if (result == 0)
        result = repeat(target, try_unload, err);
    if (result == -EBUSY || result == -EAGAIN)
        return error_set(err, ETIMEDOUT,
                         "cannot take the agent out of process %d: a thread is where it cannot leave; it stays, and "
                         "does no harm; try again later",
                         (int)target->pid);
    return result;
}

void target_close_ring(struct target *target)
{
    if (target->ring_fd != -1)
        close(target->ring_fd);
    target->ring_fd = -1;
}

void target_forget(struct target *target)
{
    target_close_ring(target);
    ring_presence_end(target->presence);
    target->presence = -1;
}

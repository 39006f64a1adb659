/* SPDX-License-Identifier: MIT */
/*
 * A child makes a ring of its own and announces it in its parent's, which it still has; what happens next to either of
 * them does not matter to the other. A program is announced before it is executed, so that the reader is there when it
 * begins; if it is not executed after all, the reader lets go before the thread goes on.
 */
#include "agent/process_log.h"

#include "agent/call_stack.h"
#include "agent/crash_watch.h"
#include "agent/function_watch.h"
#include "agent/module_log.h"
#include "agent/probe_set.h"
#include "base/counters.h"
#include "base/raw_syscall.h"
#include "protocol/agent_call.h"
#include "ring/ring_counters.h"
#include "ring/ring_notice.h"
#include "ring/ring_region.h"
#include "stalker/follow.h"
#include "stalker/system_call.h"
#include "stalker/thread.h"

#include <asm/unistd.h>
#include <linux/fcntl.h>

/* A reader that lives and does not answer is busy; one that is that busy records nothing more of us. */
#define ANSWER_MS   5000
#define MAY_EXECUTE 1 /* X_OK */

static struct process_log {
    struct ring_region *ring;
    bool with_children;
    uint32_t only; /* if not 0: programs that the process of this number executes, and no children */
} log;

static struct ring_notices *notices(void)
{
    return ring_notices_in(log.ring->base);
}

static uint32_t current_pid(void)
{
    return (uint32_t)raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0);
}

/* Posts it, and waits for the answer. NULL: there is none, or it is no. */
static struct ring_notice *ask(void *base, const struct ring_notice *question)
{
    struct ring_notice *notice = ring_notice_post(base, question, ANSWER_MS);

    if (notice == NULL)
        return NULL;
    if (ring_notice_wait(base, notice, RING_NOTICE_POSTED, ANSWER_MS) == RING_NOTICE_POSTED &&
        ring_notice_change(base, notice, RING_NOTICE_POSTED, RING_NOTICE_FREE))
        return NULL;
    if (notice->answer == 0)
        return notice;
    ring_notice_release(notice);
    return NULL;
}

/* ---- fork -------------------------------------------------------------------------------------------------------- */

void process_log_fork_begins(void)
{
    atomic_fetch_add_explicit(&notices()->forks_begun, 1, memory_order_seq_cst);
}

static void settle(void *base)
{
    atomic_fetch_add_explicit(&ring_notices_in(base)->forks_settled, 1, memory_order_seq_cst);
}

void process_log_fork_failed(void)
{
    settle(log.ring->base);
}

/* Whether the reader has taken over the ring of this process. */
static bool announce_child(void *parent)
{
    const struct ring_notice question = {
        .kind = RING_NOTICE_CHILD,
        .pid = current_pid(),
        .tid = (uint32_t)stalker_current_tid(),
        .fd = log.ring->fd,
        .cookie = notices()->cookie,
    };
    struct ring_notice *notice = ask(parent, &question);

    settle(parent);
    if (notice == NULL)
        return false;
    ring_notice_release(notice);
    return true;
}

bool process_log_child_began(void)
{
    struct ring_region parent;
    bool is_read;

    if (!log.with_children || log.only != 0 || ring_notices_reader_died(notices()) ||
        ring_region_renew(log.ring, &parent) != 0) {
        settle(log.ring->base);
        log.with_children = false;
        return false;
    }
    ring_counters_begin(log.ring);
    is_read = announce_child(parent.base);
    ring_region_leave(&parent);
    ring_region_close_fd(log.ring);
    /* Who is not read has nobody to announce anything to. */
    log.with_children = is_read;
    return is_read;
}

static void fork_begins(void *context)
{
    (void)context;
    process_log_fork_begins();
}

static void fork_failed(void *context)
{
    (void)context;
    process_log_fork_failed();
}

static bool child_began(void *context)
{
    (void)context;
    if (!process_log_child_began())
        return false;
    crash_watch_begin_in_child();
    function_watch_begin_in_child();
    call_stack_begin_in_child();
    probe_set_begin_in_child();
    module_log_begin_in_child();
    return true;
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

/* Programs are often looked for in many folders: where there is none, nobody is asked. */
bool process_log_can_execute(long folder, long path, long flags)
{
    return flags != 0 || raw_syscall(__NR_faccessat, folder, path, MAY_EXECUTE, 0, 0, 0) == 0;
}

static bool may_execute(const struct system_call *call)
{
    bool is_at = call->number == __NR_execveat;

    return process_log_can_execute(is_at ? call->arguments[0] : AT_FDCWD, call->arguments[is_at],
                                   is_at ? call->arguments[4] : 0);
}

struct ring_notice *process_log_announce(bool is_exec, int tid)
{
    const struct ring_notice question = {
        .kind = is_exec ? RING_NOTICE_EXEC : RING_NOTICE_VFORK,
        .pid = current_pid(),
        .tid = (uint32_t)tid,
        .fd = -1,
    };

    /* A child that uses this memory until it executes a program is another process. */
    if (!log.with_children || (log.only != 0 && (!is_exec || question.pid != log.only)))
        return NULL;
    return ask(log.ring->base, &question);
}

/* Whether the announcement still stands: the reader waits for what it said. */
static bool is_awaited(const struct ring_notice *notice, int tid)
{
    return notice != NULL && atomic_load_explicit(&notice->state, memory_order_acquire) == RING_NOTICE_ANSWERED &&
           notice->tid == (uint32_t)tid;
}

void process_log_retract(struct ring_notice *notice, int tid)
{
    if (is_awaited(notice, tid) && ring_notice_change(log.ring->base, notice, RING_NOTICE_ANSWERED, RING_NOTICE_OVER))
        (void)ring_notice_wait(log.ring->base, notice, RING_NOTICE_OVER, ANSWER_MS);
}

static void call_begins(void *context, struct stalker_thread *thread, bool is_exec, const struct system_call *call)
{
    (void)context;
    /* A signal came between, and its handler is done. */
    if (!log.with_children || is_awaited(thread->announcement, thread->tid))
        return;
    thread->announcement = is_exec && !may_execute(call) ? NULL : process_log_announce(is_exec, thread->tid);
}

static void call_ended(void *context, struct stalker_thread *thread)
{
    (void)context;
    process_log_retract(thread->announcement, thread->tid);
    thread->announcement = NULL;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static bool process_log_is_abandoned(void)
{
    return log.ring != NULL && ring_notices_reader_died(notices());
}

static bool is_abandoned(void *context)
{
    (void)context;
    return process_log_is_abandoned();
}

static void all_left(void *context)
{
    (void)context;
    crash_watch_end();
    probe_set_lower();
    process_log_end();
}

const struct process_watcher *process_log_begin(struct ring_region *ring, uint32_t children)
{
    static const struct process_watcher watcher = {
        .fork_begins = fork_begins,
        .fork_failed = fork_failed,
        .child_began = child_began,
        .call_begins = call_begins,
        .call_ended = call_ended,
        .all_left = all_left,
        .is_abandoned = is_abandoned,
    };

    log = (struct process_log){
        .ring = ring,
        .with_children = children != AGENT_CHILDREN_NONE,
        .only = children == AGENT_CHILDREN_EXECUTED ? current_pid() : 0,
    };
    ring_counters_begin(ring);
    return &watcher;
}

void process_log_end(void)
{
    counters_move(NULL);
    ring_region_destroy(log.ring);
    log.ring = NULL;
}

/* SPDX-License-Identifier: MIT */
/* A child of the test plays the reader that is asked; the test, or another child, is the process that asks. */
#define _GNU_SOURCE
#include "agent/process_log.h"

#include "base/clock_pair.h"
#include "ring/ring_notice.h"
#include "stalker/system_call.h"
#include "stalker/thread.h"
#include "support/agent_lab.h"
#include "support/check_apart.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static struct ring_notices *notices;

static void begin(uint32_t children)
{
    agent_lab_begin(0, RING_DROP);
    notices = ring_notices_in(agent_lab.ring->base);
    notices->cookie = 4711;
    (void)process_log_begin(agent_lab.ring, children);
}

/* One that is in that state; waits for it. */
static struct ring_notice *await_notice(uint32_t state)
{
    for (unsigned tries = 0; tries < 5000; tries++) {
        for (unsigned i = 0; i < RING_NOTICE_COUNT; i++)
            if (atomic_load(&notices->notices[i].state) == state)
                return &notices->notices[i];
        usleep(1000);
    }
    printf("nothing was asked\n");
    _exit(1);
}

static void die_with_test(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* Answers one question, which should be like this. */
static pid_t start_reader(uint32_t kind, uint32_t tid, int32_t answer)
{
    pid_t reader = fork();
    struct ring_notice *notice;

    if (reader != 0)
        return reader;
    die_with_test();
    notice = await_notice(RING_NOTICE_POSTED);
    CHECK_EQUAL(notice->kind, kind);
    CHECK_EQUAL(notice->tid, tid);
    CHECK_EQUAL(notice->pid, getppid());
    CHECK_EQUAL(notice->fd, -1);
    ring_notice_answer(notice, answer);
    /* It lets go when what was announced did not happen. */
    if (answer == 0)
        ring_notice_release(await_notice(RING_NOTICE_OVER));
    fflush(stdout);
    _exit(check_failures != 0);
}

static void finish(pid_t child)
{
    int status = -1;

    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

static bool are_all_free(void)
{
    for (unsigned i = 0; i < RING_NOTICE_COUNT; i++)
        if (atomic_load(&notices->notices[i].state) != RING_NOTICE_FREE)
            return false;
    return true;
}

static bool was_anything_asked(void)
{
    for (unsigned i = 0; i < RING_NOTICE_COUNT; i++)
        if (notices->notices[i].kind != 0)
            return true;
    return false;
}

static void an_announcement_is_answered_and_retracted(void)
{
    struct ring_notice *notice;
    pid_t reader;

    begin(AGENT_CHILDREN_ALL);
    reader = start_reader(RING_NOTICE_EXEC, 1234, 0);
    notice = process_log_announce(true, 1234);
    CHECK(notice != NULL);
    /* Another thread's is not. */
    process_log_retract(notice, 1235);
    CHECK(!are_all_free());
    process_log_retract(notice, 1234);
    finish(reader);
    CHECK(are_all_free());
    /* Once more, it is not this one's any more. */
    process_log_retract(notice, 1234);
    process_log_retract(NULL, 1234);
}

static void a_reader_may_refuse(void)
{
    pid_t reader;

    begin(AGENT_CHILDREN_ALL);
    reader = start_reader(RING_NOTICE_VFORK, 1234, -1);
    CHECK(process_log_announce(false, 1234) == NULL);
    finish(reader);
    CHECK(are_all_free());
}

static void nobody_is_asked_where_children_are_not_wanted(void)
{
    begin(AGENT_CHILDREN_NONE);
    CHECK(process_log_announce(true, 1234) == NULL);
    CHECK(process_log_announce(false, 1234) == NULL);
    CHECK(!was_anything_asked());
}

static void only_programs_of_the_process_itself_may_be_wanted(void)
{
    pid_t reader, child;

    begin(AGENT_CHILDREN_EXECUTED);
    CHECK(process_log_announce(false, 1234) == NULL);
    /* One with its memory is another process. */
    child = fork();
    if (child == 0)
        _exit(process_log_announce(true, 1234) != NULL || was_anything_asked());
    finish(child);
    reader = start_reader(RING_NOTICE_EXEC, 1234, 0);
    process_log_retract(process_log_announce(true, 1234), 1234);
    finish(reader);
}

static void a_dead_reader_is_noticed_and_not_waited_for(void)
{
    uint64_t start_ns;

    begin(AGENT_CHILDREN_ALL);
    atomic_store(&notices->reader, FUTEX_OWNER_DIED);
    start_ns = clock_pair_read().monotonic_ns;
    CHECK(process_log_announce(true, 1234) == NULL);
    CHECK(!process_log_child_began());
    CHECK(clock_pair_read().monotonic_ns - start_ns < 1000000000);
    process_log_end();
}

/* ---- forks ------------------------------------------------------------------------------------------------------- */

static void forks_that_fail_are_settled(void)
{
    begin(AGENT_CHILDREN_ALL);
    process_log_fork_begins();
    CHECK_EQUAL(notices->forks_begun, 1);
    CHECK_EQUAL(notices->forks_settled, 0);
    process_log_fork_failed();
    CHECK_EQUAL(notices->forks_settled, 1);
}

/* A process that forks, and whose child tells a module if it is read; the status says whether it was. */
static pid_t start_forking(bool expects_reader)
{
    static const struct ring_module module = {.is_loaded = 1, .start = 0x1000, .end = 0x2000, .path_bytes = 5};
    pid_t process = fork(), child;
    int status = -1;

    if (process != 0)
        return process;
    die_with_test();
    process_log_fork_begins();
    child = fork();
    if (child == 0) {
        CHECK_EQUAL(process_log_child_began(), expects_reader);
        if (expects_reader)
            CHECK(ring_region_add_module(agent_lab.ring, &module, "child"));
        CHECK(expects_reader == (agent_lab.ring->fd == -1) || !expects_reader);
        fflush(stdout);
        _exit(check_failures != 0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    fflush(stdout);
    _exit(check_failures != 0);
}

static void a_child_has_a_ring_of_its_own_which_the_reader_takes(void)
{
    struct ring_notice *notice;
    char path[64];
    pid_t process;
    int fd;

    begin(AGENT_CHILDREN_ALL);
    process = start_forking(true);
    notice = await_notice(RING_NOTICE_POSTED);
    CHECK_EQUAL(notice->kind, RING_NOTICE_CHILD);
    CHECK_EQUAL(notice->pid, notice->tid);
    CHECK(notice->pid != (uint32_t)process);
    snprintf(path, sizeof(path), "/proc/%u/fd/%d", notice->pid, notice->fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    ring_reader_close(agent_lab.reader);
    agent_lab_open(fd);
    CHECK_EQUAL(ring_notices_in(agent_lab.reader->base)->cookie, notice->cookie);
    CHECK(notice->cookie != 4711);
    ring_notice_answer(notice, 0);
    finish(process);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.module_count, 1);
    CHECK_TEXT(agent_lab.modules[0].path, "child");
    /* In its parent's ring there is nothing of it. */
    CHECK_EQUAL(ring_region_header(agent_lab.ring)->modules_used, 0);
    CHECK_EQUAL(notices->forks_settled, notices->forks_begun);
    CHECK(are_all_free());
}

static void a_child_that_is_refused_is_not_read(void)
{
    pid_t process;

    begin(AGENT_CHILDREN_ALL);
    process = start_forking(false);
    ring_notice_answer(await_notice(RING_NOTICE_POSTED), -1);
    finish(process);
    CHECK_EQUAL(notices->forks_settled, 1);
    CHECK(are_all_free());
}

static void children_that_are_not_wanted_are_settled_without_a_question(void)
{
    begin(AGENT_CHILDREN_NONE);
    finish(start_forking(false));
    CHECK_EQUAL(notices->forks_settled, 1);
    CHECK(!was_anything_asked());
    begin(AGENT_CHILDREN_EXECUTED);
    finish(start_forking(false));
    CHECK(!was_anything_asked());
    CHECK_EQUAL(notices->forks_settled, 1);
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

static void where_there_is_no_program_nobody_is_asked(void)
{
    CHECK(process_log_can_execute(AT_FDCWD, (long)"/bin/sh", 0));
    CHECK(!process_log_can_execute(AT_FDCWD, (long)"/bin/no-such-program", 0));
    CHECK(!process_log_can_execute(AT_FDCWD, (long)"/proc/self/status", 0));
    CHECK(!process_log_can_execute(AT_FDCWD, 16, 0));
    CHECK(process_log_can_execute(-1, (long)"", AT_EMPTY_PATH));
}

static void followed_threads_announce_what_may_succeed(void)
{
    const struct system_call missing = {.number = SYS_execve, .arguments = {(long)"/bin/no-such-program"}};
    const struct system_call there = {.number = SYS_execveat, .arguments = {AT_FDCWD, (long)"/bin/sh"}};
    struct stalker_thread thread = {.tid = 1234};
    const struct process_watcher *watcher;
    pid_t reader;

    begin(AGENT_CHILDREN_ALL);
    watcher = process_log_begin(agent_lab.ring, AGENT_CHILDREN_ALL);
    watcher->call_begins(watcher->context, &thread, true, &missing);
    CHECK(thread.announcement == NULL && are_all_free());
    watcher->call_ended(watcher->context, &thread);
    reader = start_reader(RING_NOTICE_EXEC, 1234, 0);
    watcher->call_begins(watcher->context, &thread, true, &there);
    CHECK(thread.announcement != NULL);
    /* A handler ran before the call was made again: it is announced already. */
    watcher->call_begins(watcher->context, &thread, true, &there);
    watcher->call_ended(watcher->context, &thread);
    CHECK(thread.announcement == NULL);
    finish(reader);
    CHECK(are_all_free());
}

static const struct check_case cases[] = {
    CHECK_CASE(an_announcement_is_answered_and_retracted),
    CHECK_CASE(a_reader_may_refuse),
    CHECK_CASE(nobody_is_asked_where_children_are_not_wanted),
    CHECK_CASE(only_programs_of_the_process_itself_may_be_wanted),
    CHECK_CASE(a_dead_reader_is_noticed_and_not_waited_for),
    CHECK_CASE(forks_that_fail_are_settled),
    CHECK_CASE(a_child_has_a_ring_of_its_own_which_the_reader_takes),
    CHECK_CASE(a_child_that_is_refused_is_not_read),
    CHECK_CASE(children_that_are_not_wanted_are_settled_without_a_question),
    CHECK_CASE(where_there_is_no_program_nobody_is_asked),
    CHECK_CASE(followed_threads_announce_what_may_succeed),
};

CHECK_APART_MAIN(cases)

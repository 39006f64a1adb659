/* SPDX-License-Identifier: MIT */
/* A process that shares our memory: it and its starter talk, and neither waits for one who is not there. */
#define _GNU_SOURCE
#include "process/tracing_helper.h"

#include "base/raw_syscall.h"
#include "support/check.h"

#include <asm/unistd.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

struct conversation {
    struct tracing_helper helper;
    int said;
    int heard;
    int helper_parent;
};

static struct conversation *start(void (*run)(struct tracing_helper *helper), uint64_t *signals_out)
{
    struct tracing_helper *helper = NULL;

    CHECK_EQUAL(tracing_helper_enter(signals_out), 0);
    CHECK_EQUAL(tracing_helper_create(sizeof(struct conversation), &helper), 0);
    CHECK_EQUAL(((struct conversation *)helper)->said, 0);
    CHECK_EQUAL(tracing_helper_start(helper, run), 0);
    return (struct conversation *)helper;
}

UNSANITIZED static void answer(struct tracing_helper *helper)
{
    struct conversation *conversation = (struct conversation *)helper;

    conversation->helper_parent = (int)raw_syscall(__NR_getppid, 0, 0, 0, 0, 0, 0);
    (void)tracing_helper_set_phase(helper, HELPER_STARTING, HELPER_STOPPED);
    if (tracing_helper_wait(helper, HELPER_STOPPED, 5000) != CALLER_WRITE)
        return;
    conversation->heard = conversation->said + 1;
    helper->outcome = -ENODATA;
}

static void caller_and_helper_take_turns(void)
{
    uint64_t signals;
    struct conversation *conversation = start(answer, &signals);

    CHECK_EQUAL(tracing_helper_wait(&conversation->helper, HELPER_STARTING, 5000), HELPER_STOPPED);
    CHECK_EQUAL(conversation->helper_parent, getpid());
    conversation->said = 41;
    CHECK(tracing_helper_set_phase(&conversation->helper, HELPER_STOPPED, CALLER_WRITE));
    CHECK(!tracing_helper_set_phase(&conversation->helper, HELPER_STOPPED, CALLER_WRITE));
    CHECK_EQUAL(tracing_helper_wait(&conversation->helper, CALLER_WRITE, 5000), HELPER_GONE);
    CHECK_EQUAL(conversation->heard, 42);
    CHECK_EQUAL(tracing_helper_end(&conversation->helper, 5000), -ENODATA);
    tracing_helper_leave(signals);
    CHECK_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
}

UNSANITIZED static void wait_for_nothing(struct tracing_helper *helper)
{
    (void)tracing_helper_wait(helper, HELPER_STARTING, 0);
}

static void a_helper_that_takes_too_long_is_ended(void)
{
    uint64_t signals;
    struct conversation *conversation = start(wait_for_nothing, &signals);

    CHECK_EQUAL(tracing_helper_wait(&conversation->helper, HELPER_STARTING, 20), HELPER_STARTING);
    CHECK_EQUAL(tracing_helper_end(&conversation->helper, 20), -ETIMEDOUT);
    tracing_helper_leave(signals);
}

static void a_helper_that_was_killed_is_no_riddle(void)
{
    uint64_t signals;
    struct conversation *conversation = start(wait_for_nothing, &signals);

    CHECK_EQUAL(kill(conversation->helper.pid, SIGKILL), 0);
    CHECK_EQUAL(tracing_helper_wait(&conversation->helper, HELPER_STARTING, 5000), HELPER_GONE);
    CHECK_EQUAL(tracing_helper_end(&conversation->helper, 5000), -EIO);
    tracing_helper_leave(signals);
}

static void there_is_one_at_a_time(void)
{
    uint64_t signals, again;

    CHECK_EQUAL(tracing_helper_enter(&signals), 0);
    CHECK_EQUAL(tracing_helper_enter(&again), -EDEADLK);
    tracing_helper_leave(signals);
    CHECK_EQUAL(tracing_helper_enter(&again), 0);
    tracing_helper_leave(again);
}

static void signals_are_held_back_and_come_afterwards(void)
{
    struct tracing_helper *helper = NULL;
    sigset_t before, during;
    uint64_t signals;

    CHECK_EQUAL(sigprocmask(SIG_BLOCK, NULL, &before), 0);
    CHECK_EQUAL(tracing_helper_enter(&signals), 0);
    CHECK_EQUAL(sigprocmask(SIG_BLOCK, NULL, &during), 0);
    CHECK_EQUAL(sigismember(&during, SIGUSR1), 1);
    CHECK_EQUAL(tracing_helper_create(sizeof(*helper), &helper), 0);
    tracing_helper_discard(helper);
    tracing_helper_leave(signals);
    CHECK_EQUAL(sigprocmask(SIG_BLOCK, NULL, &during), 0);
    CHECK_EQUAL(sigismember(&during, SIGUSR1), sigismember(&before, SIGUSR1));
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(caller_and_helper_take_turns),
        CHECK_CASE(a_helper_that_takes_too_long_is_ended),
        CHECK_CASE(a_helper_that_was_killed_is_no_riddle),
        CHECK_CASE(there_is_one_at_a_time),
        CHECK_CASE(signals_are_held_back_and_come_afterwards),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}

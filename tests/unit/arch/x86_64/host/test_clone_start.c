/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "arch/clone_start.h"

#include "base/attributes.h"
#include "base/raw_syscall.h"
#include "support/check.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FLAGS       (CLONE_VM | CLONE_CHILD_CLEARTID)
#define STACK_BYTES (16 * 1024)

/* What the other process does, and has seen. */
struct visit {
    _Atomic uint32_t running;
    long pid, parent;
    uintptr_t frame;
    bool stays;
};

static _Alignas(16) uint8_t stack[STACK_BYTES];

UNSANITIZED static void visit_run(void *context)
{
    struct visit *visit = context;

    visit->pid = raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
    visit->parent = raw_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0);
    visit->frame = (uintptr_t)__builtin_frame_address(0);
    while (visit->stays)
        (void)raw_syscall(SYS_pause, 0, 0, 0, 0, 0, 0);
}

static void wait_until_gone(struct visit *visit)
{
    while (atomic_load(&visit->running) != 0)
        (void)raw_syscall(SYS_futex, (long)&visit->running, FUTEX_WAIT, 1, 0, 0, 0);
}

static void a_process_runs_the_function_on_its_stack_in_our_memory(void)
{
    struct visit visit = {.running = 1};
    /* A stack that does not end at a multiple of 16 is no trouble. */
    long pid = clone_start(FLAGS, stack + STACK_BYTES - 3, &visit.running, visit_run, &visit);
    int status = -1;

    CHECK(pid > 0);
    wait_until_gone(&visit);
    CHECK_EQUAL(waitpid((pid_t)pid, &status, __WALL), pid);
    CHECK_EQUAL(status, 0);
    CHECK_EQUAL(visit.pid, pid);
    CHECK_EQUAL(visit.parent, getpid());
    CHECK(visit.frame > (uintptr_t)stack && visit.frame < (uintptr_t)stack + STACK_BYTES);
    CHECK_EQUAL(visit.frame % 16, 0);
}

static void the_word_is_cleared_when_the_process_is_killed(void)
{
    struct visit visit = {.running = 1, .stays = true};
    long pid = clone_start(FLAGS, stack + STACK_BYTES, &visit.running, visit_run, &visit);
    int status = 0;

    CHECK_EQUAL(kill((pid_t)pid, SIGKILL), 0);
    wait_until_gone(&visit);
    CHECK_EQUAL(waitpid((pid_t)pid, &status, __WALL), pid);
    CHECK(WIFSIGNALED(status));
}

static void flags_that_cannot_be_are_an_error(void)
{
    struct visit visit = {.running = 1};

    CHECK_EQUAL(clone_start(FLAGS | CLONE_THREAD, stack + STACK_BYTES, &visit.running, visit_run, &visit), -EINVAL);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_process_runs_the_function_on_its_stack_in_our_memory),
    CHECK_CASE(the_word_is_cleared_when_the_process_is_killed),
    CHECK_CASE(flags_that_cannot_be_are_an_error),
};

CHECK_MAIN(cases)

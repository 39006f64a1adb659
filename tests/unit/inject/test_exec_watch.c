/* SPDX-License-Identifier: MIT */
/* configurations: debug-* asan-* */
#define _GNU_SOURCE
#include "inject/exec_watch.h"

#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct exec_watch watch;
static pid_t made;

/* A process that does something as soon as it is watched. */
static pid_t start(void (*work)(void), enum exec_watch_kind kind)
{
    int pipes[2];
    pid_t child;

    CHECK_EQUAL(pipe2(pipes, O_CLOEXEC), 0);
    child = fork();
    if (child == 0) {
        char byte;

        close(pipes[1]);
        if (read(pipes[0], &byte, 1) == 0)
            work();
        _exit(99);
    }
    CHECK_EQUAL(exec_watch_begin(&watch, kind, child, child), 0);
    close(pipes[0]);
    close(pipes[1]);
    return child;
}

/* Until something came of it. */
static enum exec_watch_outcome outcome_of(struct exec_watch *watched)
{
    enum exec_watch_outcome outcome = EXEC_WATCH_ON;

    while (outcome == EXEC_WATCH_ON) {
        int status;

        CHECK_EQUAL(waitpid(watched->tracee.tid, &status, __WALL), watched->tracee.tid);
        outcome = exec_watch_go_on(watched, status, &made);
    }
    return outcome;
}

static int status_of(pid_t pid)
{
    int status = -1;

    CHECK_EQUAL(waitpid(pid, &status, 0), pid);
    return status;
}

static void execute(void)
{
    execl("/bin/sh", "/bin/sh", "-c", "exit 5", NULL);
}

static void a_program_is_stopped_at_its_first_instruction(void)
{
    pid_t child = start(execute, EXEC_WATCH_THREAD);

    CHECK_EQUAL(outcome_of(&watch), EXEC_WATCH_EXECUTED);
    CHECK_EQUAL(watch.tracee.is_stopped, true);
    tracee_detach(&watch.tracee);
    CHECK_EQUAL(status_of(child), 5 << 8);
}

static void make_process(void)
{
    int status = -1;
    pid_t child = vfork();

    if (child == 0) {
        execl("/nonexistent", "/nonexistent", NULL);
        execute();
        _exit(98);
    }
    if (waitpid(child, &status, 0) == child)
        _exit(WEXITSTATUS(status));
}

static void a_process_that_is_made_is_watched_in_its_parents_place(void)
{
    pid_t parent = start(make_process, EXEC_WATCH_PARENT);
    struct exec_watch child;

    CHECK_EQUAL(outcome_of(&watch), EXEC_WATCH_MADE);
    exec_watch_begin_child(&child, made);
    CHECK_EQUAL(outcome_of(&child), EXEC_WATCH_EXECUTED);
    tracee_detach(&child.tracee);
    CHECK_EQUAL(status_of(parent), 5 << 8);
}

/* Both: the parent waits for its child until that executes a program. */
static void a_parent_that_has_just_made_a_process_can_be_let_go(void)
{
    pid_t parent = start(make_process, EXEC_WATCH_PARENT);
    siginfo_t info;

    CHECK_EQUAL(waitid(P_PID, (id_t)parent, &info, WSTOPPED | WNOWAIT | __WALL), 0);
    exec_watch_end(&watch);
    CHECK_EQUAL(status_of(parent), 5 << 8);
}

static void make_traced_process(void)
{
    int status = -1;
    pid_t child = vfork();

    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(97);
        execute();
        _exit(98);
    }
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
        _exit(96);
    ptrace(PTRACE_CONT, child, NULL, NULL);
    if (waitpid(child, &status, 0) == child)
        _exit(WEXITSTATUS(status));
}

static void a_process_that_its_parent_wants_to_trace_is_left_to_it(void)
{
    pid_t parent = start(make_traced_process, EXEC_WATCH_PARENT);
    struct exec_watch child;

    CHECK_EQUAL(outcome_of(&watch), EXEC_WATCH_MADE);
    exec_watch_begin_child(&child, made);
    CHECK_EQUAL(outcome_of(&child), EXEC_WATCH_TAKEN);
    CHECK_EQUAL(status_of(parent), 5 << 8);
}

static void die(void)
{
    raise(SIGUSR1);
}

static void signals_do_what_they_do(void)
{
    (void)start(die, EXEC_WATCH_THREAD);
    CHECK_EQUAL(outcome_of(&watch), EXEC_WATCH_ENDED);
}

static void sleep_on(void)
{
    for (;;)
        pause();
}

static void it_can_be_let_go_at_any_time(void)
{
    pid_t child = start(sleep_on, EXEC_WATCH_THREAD);

    exec_watch_end(&watch);
    CHECK_EQUAL(kill(child, SIGTERM), 0);
    CHECK_EQUAL(status_of(child), SIGTERM);
}

static char privileged[64];

/* Its exit status says whether it may read what only root may. */
static void execute_privileged(void)
{
    if (setgid(65534) == 0 && setuid(65534) == 0)
        execl(privileged, privileged, "-r", "/etc/shadow", NULL);
}

static void a_program_with_privileges_keeps_them_and_is_left_alone(void)
{
    char command[256];
    pid_t child;

    if (geteuid() != 0) {
        puts("needs root: not tried");
        return;
    }
    snprintf(privileged, sizeof(privileged), "/tmp/gait-test-%d", (int)getpid());
    snprintf(command, sizeof(command), "cp /usr/bin/test %s && chmod 4755 %s", privileged, privileged);
    CHECK_EQUAL(system(command), 0);
    child = start(execute_privileged, EXEC_WATCH_THREAD);
    CHECK_EQUAL(outcome_of(&watch), EXEC_WATCH_LEFT);
    CHECK_EQUAL(status_of(child), 0);
    CHECK_EQUAL(unlink(privileged), 0);
}

static void what_is_not_there_is_not_watched(void)
{
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    CHECK_EQUAL(status_of(child), 0);
    CHECK_EQUAL(exec_watch_begin(&watch, EXEC_WATCH_THREAD, child, child), -ESRCH);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_program_is_stopped_at_its_first_instruction),
    CHECK_CASE(a_process_that_is_made_is_watched_in_its_parents_place),
    CHECK_CASE(a_parent_that_has_just_made_a_process_can_be_let_go),
    CHECK_CASE(a_process_that_its_parent_wants_to_trace_is_left_to_it),
    CHECK_CASE(signals_do_what_they_do),
    CHECK_CASE(it_can_be_let_go_at_any_time),
    CHECK_CASE(a_program_with_privileges_keeps_them_and_is_left_alone),
    CHECK_CASE(what_is_not_there_is_not_watched),
};

CHECK_MAIN(cases)

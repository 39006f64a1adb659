/* SPDX-License-Identifier: MIT */
/*
 * Of the calling process's children. The thread sanitizer gives each a thread of its own, whose end is told as well.
 *
 * configurations: debug-* asan-*
 */
#define _GNU_SOURCE
#include "source/system_call_source.h"

#include "support/check.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct heard {
    unsigned entered, left, signals, exits, processes;
    int64_t last_result;
    unsigned last_flags;
    uint64_t longest_ns;
    int last_pid;
};

static struct gait_error err;

static void hear(void *context, const struct system_call_event *event)
{
    struct heard *heard = context;

    heard->entered += event->kind == SYSTEM_CALL_ENTERED;
    heard->left += event->kind == SYSTEM_CALL_LEFT;
    heard->signals += event->kind == SYSTEM_CALL_SIGNALLED;
    heard->exits += event->kind == SYSTEM_CALL_EXITED;
    heard->processes += event->pid != heard->last_pid;
    heard->last_pid = event->pid;
    if (event->kind == SYSTEM_CALL_LEFT) {
        heard->last_result = event->result;
        heard->last_flags = event->flags;
        if (event->system_ns > heard->longest_ns)
            heard->longest_ns = event->system_ns;
    }
}

static int watch(const char *script, const char *set_text, const char *injection_text, struct heard *heard,
                 bool follows)
{
    char *const program[] = {"/bin/sh", "-c", (char *)script, NULL};
    struct system_call_set set;
    struct system_call_set_fault fault;
    static struct injections injections;
    int status = -1;

    CHECK_EQUAL(system_call_set_parse(set_text, &set, &fault), 0);
    injections.count = injection_text != NULL;
    if (injection_text != NULL)
        CHECK_EQUAL(injection_parse(injection_text, false, &injections.all[0], &fault), 0);
    *heard = (struct heard){0};
    const struct system_call_request request = {
        .program = program, .follows = follows, .set = &set, .injections = &injections, .hear = hear, .context = heard};

    CHECK_EQUAL(system_call_source_find("ptrace")->run(&request, &status, &err), 0);
    return status;
}

static void calls_of_a_program_begin_with_its_execution(void)
{
    struct heard heard;
    int status = watch("exit 3", "execve", NULL, &heard, false);

    CHECK_EQUAL(WEXITSTATUS(status), 3);
    CHECK_EQUAL(heard.entered, 1);
    CHECK_EQUAL(heard.left, 1);
    CHECK_EQUAL(heard.last_result, 0);
    CHECK_EQUAL(heard.exits, 1);
}

static void children_are_followed_if_asked_for(void)
{
    struct heard heard;

    (void)watch("(exit 1); (exit 2); :", "none", NULL, &heard, true);
    CHECK_EQUAL(heard.exits, 3);
    CHECK_EQUAL(heard.signals, 2);
    (void)watch("(exit 1); (exit 2); :", "none", NULL, &heard, false);
    CHECK_EQUAL(heard.exits, 1);
}

static void ends_by_signals_are_passed_on(void)
{
    struct heard heard;
    int status = watch("kill -TERM $$", "none", NULL, &heard, false);

    CHECK_EQUAL(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, 1);
    CHECK_EQUAL(heard.signals, 1);
}

static void calls_can_be_made_to_fail(void)
{
    struct heard heard;
    int status = watch("cd / || exit 9", "chdir", "chdir:error=EXDEV", &heard, false);

    CHECK_EQUAL(WEXITSTATUS(status), 9);
    CHECK_EQUAL(heard.last_result, -EXDEV);
    CHECK_EQUAL(heard.last_flags, SYSTEM_CALL_INJECTED);
    status = watch("cd /nowhere && exit 7", "chdir", "chdir:retval=0", &heard, false);
    CHECK_EQUAL(WEXITSTATUS(status), 7);
}

static void calls_can_be_made_to_take_longer(void)
{
    struct heard heard;

    (void)watch("cd /", "chdir", "chdir:delay_enter=60ms", &heard, false);
    CHECK_EQUAL(heard.longest_ns >= 60000000, 1);
    CHECK_EQUAL(heard.last_flags, SYSTEM_CALL_DELAYED);
}

static void calls_can_come_with_signals(void)
{
    struct heard heard;
    int status = watch("cd /; exit 0", "chdir", "chdir:signal=KILL", &heard, false);

    CHECK_EQUAL(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, 1);
}

/* Is started in a process of its own: Ctrl-C would end all of the test. */
static int attach_for_a_while(int pid)
{
    struct system_call_set set;
    struct heard heard = {0};
    int status = -1, watcher = fork();

    if (watcher == 0) {
        const struct system_call_request request = {
            .pids = &pid, .pid_count = 1, .follows = true, .set = &set, .hear = hear, .context = &heard};

        system_call_set_fill(&set);
        _exit(system_call_source_find("ptrace")->run(&request, &status, &err) == 0 && heard.left > 0 ? 0 : 1);
    }
    nanosleep(&(struct timespec){0, 300000000}, NULL);
    kill(watcher, SIGINT);
    waitpid(watcher, &status, 0);
    return status;
}

static void processes_go_on_when_nobody_looks_any_more(void)
{
    int status, pid = fork();

    if (pid == 0) {
        for (int i = 0; i < 200; i++)
            if (nanosleep(&(struct timespec){0, 5000000}, NULL) != 0)
                _exit(2);
        _exit(5);
    }
    CHECK_EQUAL(attach_for_a_while(pid), 0);
    CHECK_EQUAL(waitpid(pid, &status, 0), pid);
    CHECK_EQUAL(WIFEXITED(status) && WEXITSTATUS(status) == 5, 1);
}

static void processes_that_are_not_there_are_refused(void)
{
    struct system_call_set set = {0};
    struct heard heard = {0};
    int pid = 0x3ffffff, status;
    const struct system_call_request request = {
        .pids = &pid, .pid_count = 1, .set = &set, .hear = hear, .context = &heard};

    CHECK_EQUAL(system_call_source_find("ptrace")->run(&request, &status, &err), -ESRCH);
    CHECK_EQUAL(strstr(err.text, "there is no such process") != NULL, 1);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_of_a_program_begin_with_its_execution),
    CHECK_CASE(children_are_followed_if_asked_for),
    CHECK_CASE(ends_by_signals_are_passed_on),
    CHECK_CASE(calls_can_be_made_to_fail),
    CHECK_CASE(calls_can_be_made_to_take_longer),
    CHECK_CASE(calls_can_come_with_signals),
    CHECK_CASE(processes_go_on_when_nobody_looks_any_more),
    CHECK_CASE(processes_that_are_not_there_are_refused),
};

CHECK_MAIN(cases)

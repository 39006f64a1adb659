/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
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

    int result = system_call_source_find("kernel")->run(&request, &status, &err);

    if (result == -EPERM || result == -EACCES || result == -ENOTSUP || result == -EOPNOTSUPP)
        check_skip(err.text);
    CHECK_EQUAL(result, 0);
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
    (void)watch("(exit 1); (exit 2); :", "none", NULL, &heard, false);
    CHECK_EQUAL(heard.exits, 1);
}

static void ends_by_signals_are_passed_on(void)
{
    struct heard heard;
    int status = watch("kill -TERM $$", "none", NULL, &heard, false);

    CHECK_EQUAL(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, 1);
}

static void calls_cannot_be_changed(void)
{
    char *const program[] = {"/bin/true", NULL};
    struct system_call_set set = {0};
    struct injections injections = {.count = 1};
    int status;
    const struct system_call_request request = {
        .program = program, .set = &set, .injections = &injections, .hear = hear};

    CHECK_EQUAL(system_call_source_find("kernel")->run(&request, &status, &err), -EOPNOTSUPP);
    CHECK_EQUAL(strstr(err.text, "--via ptrace") != NULL, 1);
}

static void processes_that_are_not_there_are_refused(void)
{
    struct system_call_set set = {0};
    struct heard heard = {0};
    int pid = 0x3ffffff, status;
    const struct system_call_request request = {
        .pids = &pid, .pid_count = 1, .set = &set, .hear = hear, .context = &heard};

    CHECK_EQUAL(system_call_source_find("kernel")->run(&request, &status, &err), -ESRCH);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_of_a_program_begin_with_its_execution),
    CHECK_CASE(children_are_followed_if_asked_for),
    CHECK_CASE(ends_by_signals_are_passed_on),
    CHECK_CASE(calls_cannot_be_changed),
    CHECK_CASE(processes_that_are_not_there_are_refused),
};

CHECK_MAIN(cases)

/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "inject/trace_refusal.h"

#include "support/check.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gait_error err;

static void expect(pid_t pid, const char *part)
{
    CHECK_EQUAL(trace_refusal_explain(pid, &err), -EPERM);
    if (strstr(err.text, part) == NULL)
        CHECK_TEXT(err.text, part);
}

/* A child that sleeps as another user, if it can be one. */
static pid_t start(uid_t user)
{
    int pipes[2];
    char byte = 0;
    pid_t child;

    CHECK_EQUAL(pipe(pipes), 0);
    child = fork();
    if (child == 0) {
        if (user != 0 && setuid(user) != 0)
            _exit(1);
        (void)!write(pipes[1], &byte, 1);
        pause();
        _exit(0);
    }
    CHECK_EQUAL(read(pipes[0], &byte, 1), 1);
    close(pipes[0]);
    close(pipes[1]);
    return child;
}

static void end(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void the_other_tracer_is_named(void)
{
    pid_t child = start(0);
    char text[64];

    if (ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0) {
        snprintf(text, sizeof(text), "process %d (test_trace_refu) traces it", (int)getpid());
        expect(child, text);
        ptrace(PTRACE_DETACH, child, NULL, NULL);
    }
    end(child);
}

/* Asked by a child of ours, to whom we are somebody else. */
static void tracers_are_others(void)
{
    pid_t child = start(0), asking;
    char text[64], expected[64];
    int status = 0;

    CHECK(!trace_refusal_tracer(child, text, sizeof(text)));
    if (ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0) {
        CHECK(!trace_refusal_tracer(child, text, sizeof(text)));
        snprintf(expected, sizeof(expected), "process %d (test_trace_refu)", (int)getpid());
        asking = fork();
        if (asking == 0)
            _exit(trace_refusal_tracer(child, text, sizeof(text)) && strcmp(text, expected) == 0 ? 0 : 1);
        CHECK_EQUAL(waitpid(asking, &status, 0), asking);
        CHECK_EQUAL(status, 0);
        ptrace(PTRACE_DETACH, child, NULL, NULL);
    }
    end(child);
}

static void threads_of_the_kernel_are_no_programs(void)
{
    char name[64] = "";
    FILE *file = fopen("/proc/2/comm", "re");

    /* In a container it is another process, or none. */
    if (file != NULL && fgets(name, sizeof(name), file) != NULL && strcmp(name, "kthreadd\n") == 0)
        expect(2, "cannot trace process 2 (kthreadd): it is a part of the kernel");
    if (file != NULL)
        fclose(file);
}

/* As somebody who is not root, of a process of root's. */
static void other_peoples_processes_are_named(void)
{
    pid_t ours = getpid(), child = fork();
    int status = 0;

    if (child == 0) {
        if (setuid(65534) != 0)
            _exit(0);
        (void)trace_refusal_explain(ours, &err);
        _exit(strstr(err.text, "belongs to user root; try as that user, or as root") != NULL ? 0 : 1);
    }
    waitpid(child, &status, 0);
    CHECK(geteuid() != 0 || status == 0);
}

static void what_nobody_shows_is_said(void)
{
    pid_t child = start(0);

    expect(child, geteuid() == 0 ? "protected" : "try");
    end(child);
    expect(child, "cannot see it in /proc");
}

static const struct check_case cases[] = {
    CHECK_CASE(the_other_tracer_is_named),
    CHECK_CASE(tracers_are_others),
    CHECK_CASE(threads_of_the_kernel_are_no_programs),
    CHECK_CASE(other_peoples_processes_are_named),
    CHECK_CASE(what_nobody_shows_is_said),
};

CHECK_MAIN(cases)

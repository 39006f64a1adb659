/* SPDX-License-Identifier: MIT */
/* What sources of system calls are tested with: a shell that runs a script, and counts of what is told of it. */
#ifndef GAIT_TESTS_SUPPORT_HEARD_CALLS_H
#define GAIT_TESTS_SUPPORT_HEARD_CALLS_H

#include "support/check.h"
#include "syscalls/system_call_source.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

struct heard_calls {
    unsigned entered, left, signals, exits;
    int64_t last_result;
    unsigned last_flags;
    uint64_t longest_ns;
};

/* A script and what is told of it. */
struct heard_script {
    const char *source;
    const char *text;
    const char *set;
    const char *injection; /* may be NULL */
    bool follows;
};

static inline void heard_calls_note(void *context, const struct system_call_event *event)
{
    struct heard_calls *heard = context;

    heard->entered += event->kind == SYSTEM_CALL_ENTERED;
    heard->left += event->kind == SYSTEM_CALL_LEFT;
    heard->signals += event->kind == SYSTEM_CALL_SIGNALLED;
    heard->exits += event->kind == SYSTEM_CALL_EXITED;
    if (event->kind == SYSTEM_CALL_LEFT) {
        heard->last_result = event->result;
        heard->last_flags = event->flags;
        if (event->system_ns > heard->longest_ns)
            heard->longest_ns = event->system_ns;
    }
}

/* What a kernel does not have, or not for this user. Being a tracer needs nothing. */
static inline bool heard_calls_are_refused(const char *source, int result)
{
    return strcmp(source, "ptrace") != 0 &&
           (result == -EPERM || result == -EACCES || result == -ENOTSUP || result == -EOPNOTSUPP);
}

/* How the shell ended. Skips the test where this source may not be used. */
static inline int heard_script_run(const struct heard_script *script, struct heard_calls *heard_out)
{
    char *const program[] = {"/bin/sh", "-c", (char *)script->text, NULL};
    struct system_call_set set;
    struct system_call_set_fault fault;
    static struct injections injections;
    struct gait_error err;
    int status = -1, result;

    CHECK_EQUAL(system_call_set_parse(script->set, &set, &fault), 0);
    injections.count = script->injection != NULL;
    if (script->injection != NULL)
        CHECK_EQUAL(injection_parse(script->injection, false, &injections.all[0], &fault), 0);
    *heard_out = (struct heard_calls){0};
    const struct system_call_request request = {.program = program,
                                                .follows = script->follows,
                                                .set = &set,
                                                .injections = &injections,
                                                .hear = heard_calls_note,
                                                .context = heard_out};

    result = system_call_source_find(script->source)->run(&request, &status, &err);
    if (heard_calls_are_refused(script->source, result))
        check_skip(err.text);
    CHECK_EQUAL(result, 0);
    return status;
}

/* The first call that is told is the one that executes the program. */
static inline void heard_calls_check_beginning(const char *source)
{
    struct heard_calls heard;
    int status = heard_script_run(&(struct heard_script){source, "exit 3", "execve", NULL, false}, &heard);

    CHECK_EQUAL(WEXITSTATUS(status), 3);
    CHECK_EQUAL(heard.entered, 1);
    CHECK_EQUAL(heard.left, 1);
    CHECK_EQUAL(heard.last_result, 0);
    CHECK_EQUAL(heard.exits, 1);
}

/* Counts of those that are followed, if somebody asks for it. */
static inline struct heard_calls heard_calls_check_children(const char *source)
{
    struct heard_script script = {source, "(exit 1); (exit 2); :", "none", NULL, false};
    struct heard_calls heard;

    (void)heard_script_run(&script, &heard);
    CHECK_EQUAL(heard.exits, 1);
    script.follows = true;
    (void)heard_script_run(&script, &heard);
    CHECK_EQUAL(heard.exits, 3);
    return heard;
}

static inline struct heard_calls heard_calls_check_signals(const char *source)
{
    struct heard_calls heard;
    int status = heard_script_run(&(struct heard_script){source, "kill -TERM $$", "none", NULL, false}, &heard);

    CHECK_EQUAL(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, 1);
    return heard;
}

static inline void heard_calls_check_absent(const char *source, struct gait_error *err)
{
    struct system_call_set set = {0};
    struct heard_calls heard = {0};
    int pid = 0x3ffffff, status;
    const struct system_call_request request = {
        .pids = &pid, .pid_count = 1, .set = &set, .hear = heard_calls_note, .context = &heard};

    CHECK_EQUAL(system_call_source_find(source)->run(&request, &status, err), -ESRCH);
}

#endif

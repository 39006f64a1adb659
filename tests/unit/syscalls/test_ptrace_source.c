/* SPDX-License-Identifier: MIT */
/*
 * Of the calling process's children. The thread sanitizer gives each a thread of its own, whose end is told as well.
 *
 * configurations: debug-* asan-*
 */
#define _GNU_SOURCE
#include "syscalls/system_call_source.h"

#include "support/heard_calls.h"

#include <time.h>
#include <unistd.h>

static struct gait_error err;

static int watch(const char *text, const char *injection, struct heard_calls *heard)
{
    return heard_script_run(&(struct heard_script){"ptrace", text, "chdir", injection, false}, heard);
}

static void calls_of_a_program_begin_with_its_execution(void)
{
    heard_calls_check_beginning("ptrace");
}

static void children_are_followed_if_asked_for(void)
{
    CHECK_EQUAL(heard_calls_check_children("ptrace").signals, 2);
}

static void ends_by_signals_are_passed_on(void)
{
    CHECK_EQUAL(heard_calls_check_signals("ptrace").signals, 1);
}

static void calls_can_be_made_to_fail(void)
{
    struct heard_calls heard;
    int status = watch("cd / || exit 9", "chdir:error=EXDEV", &heard);

    CHECK_EQUAL(WEXITSTATUS(status), 9);
    CHECK_EQUAL(heard.last_result, -EXDEV);
    CHECK_EQUAL(heard.last_flags, SYSTEM_CALL_INJECTED);
    status = watch("cd /nowhere && exit 7", "chdir:retval=0", &heard);
    CHECK_EQUAL(WEXITSTATUS(status), 7);
}

static void calls_can_be_made_to_take_longer(void)
{
    struct heard_calls heard;

    (void)watch("cd /", "chdir:delay_enter=60ms", &heard);
    CHECK_EQUAL(heard.longest_ns >= 60000000, 1);
    CHECK_EQUAL(heard.last_flags, SYSTEM_CALL_DELAYED);
}

static void calls_can_come_with_signals(void)
{
    struct heard_calls heard;
    int status = watch("cd /; exit 0", "chdir:signal=KILL", &heard);

    CHECK_EQUAL(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, 1);
}

/* Is started in a process of its own: Ctrl-C would end all of the test. */
static int attach_for_a_while(int pid)
{
    struct system_call_set set;
    struct heard_calls heard = {0};
    int status = -1, watcher = fork();

    if (watcher == 0) {
        const struct system_call_request request = {
            .pids = &pid, .pid_count = 1, .follows = true, .set = &set, .hear = heard_calls_note, .context = &heard};

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
    heard_calls_check_absent("ptrace", &err);
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

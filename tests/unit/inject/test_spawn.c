/* SPDX-License-Identifier: MIT */
/* Programs that are stopped before their first instruction, asked for system calls, and let go. */
#define _GNU_SOURCE
#include "inject/spawn.h"

#include "inject/remote.h"
#include "support/check.h"
#include "support/stopped_shell.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gait_error err;
static struct tracee tracee;

static void a_program_that_is_let_go_runs_as_it_would(void)
{
    stopped_shell_start(&tracee, "exit 7");
    CHECK(tracee.is_stopped);
    tracee_detach(&tracee);
    CHECK_EQUAL(WEXITSTATUS(stopped_shell_end(&tracee)), 7);
}

static void programs_are_found_in_the_path(void)
{
    char *arguments[] = {"true", NULL};

    CHECK_EQUAL(spawn_stopped(arguments, &tracee, &err), 0);
    tracee_detach(&tracee);
    CHECK_EQUAL(stopped_shell_end(&tracee), 0);
}

static void what_cannot_be_executed_is_told(void)
{
    char *missing[] = {"/no/such/program", NULL}, *nowhere[] = {"no-such-program", NULL}, *folder[] = {"/", NULL};

    CHECK_EQUAL(spawn_stopped(missing, &tracee, &err), -ENOENT);
    CHECK_TEXT(err.text, "cannot start /no/such/program: there is no such program");
    CHECK_EQUAL(spawn_stopped(nowhere, &tracee, &err), -ENOENT);
    CHECK_TEXT(err.text, "cannot start no-such-program: there is no such program in PATH");
    CHECK_EQUAL(spawn_stopped(folder, &tracee, &err), -EACCES);
    /* No child is left. */
    CHECK_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
}

static void write_file(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "we");

    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    CHECK_EQUAL(chmod(path, mode), 0);
}

static int run_in_path(const char *path, char *const arguments[])
{
    CHECK_EQUAL(setenv("PATH", path, 1), 0);
    err.text[0] = '\0';
    CHECK_EQUAL(spawn_stopped(arguments, &tracee, &err), 0);
    /* Nothing went wrong, also if it took two tries. */
    CHECK_TEXT(err.text, "");
    tracee_detach(&tracee);
    return WEXITSTATUS(stopped_shell_end(&tracee));
}

/* A text without #! is the shell's; what may not be executed is passed over, as is a folder that is none. */
static void the_path_is_gone_through_as_shells_do(void)
{
    char folder[] = "/tmp/gait-test-XXXXXX", name[300], *arguments[] = {"answer", "6", NULL}, *longer[] = {name, NULL};
    char before[PATH_MAX], *path = strdup(getenv("PATH"));

    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    CHECK(getcwd(before, sizeof(before)) != NULL);
    CHECK(mkdtemp(folder) != NULL && chdir(folder) == 0 && mkdir("a", 0700) == 0 && mkdir("b", 0700) == 0);
    write_file("a/answer", "exit 1\n", 0600);
    write_file("b/answer", "exit $1\n", 0700);
    write_file("answer", "#!/bin/sh\nexit 4\n", 0700);
    CHECK_EQUAL(run_in_path("a:nowhere:b/answer:b:", arguments), 6);
    CHECK_EQUAL(run_in_path("nowhere::b", arguments), 4);
    CHECK_EQUAL(run_in_path(":b", arguments), 4);
    CHECK_EQUAL(setenv("PATH", "nowhere:a", 1), 0);
    CHECK_EQUAL(spawn_stopped(arguments, &tracee, &err), -EACCES);
    CHECK_EQUAL(spawn_stopped(longer, &tracee, &err), -ENAMETOOLONG);
    CHECK_EQUAL(setenv("PATH", path, 1), 0);
    CHECK_EQUAL(spawn_stopped((char *[]){"", NULL}, &tracee, &err), -ENOENT);
    CHECK(unlink("a/answer") == 0 && unlink("b/answer") == 0 && unlink("answer") == 0);
    CHECK(rmdir("a") == 0 && rmdir("b") == 0 && chdir(before) == 0 && rmdir(folder) == 0);
    free(path);
}

/* Who is killed before the program has begun has not started it. */
static void a_program_that_has_not_begun_ends_with_us(void)
{
    int ends[2], status;
    char byte, script[32];
    pid_t starter;

    CHECK_EQUAL(pipe2(ends, 0), 0);
    snprintf(script, sizeof(script), "echo begun >&%d", ends[1]);
    starter = fork();
    if (starter == 0) {
        stopped_shell_start(&tracee, script);
        kill(getpid(), SIGKILL);
    }
    close(ends[1]);
    CHECK_EQUAL(waitpid(starter, &status, 0), starter);
    CHECK_EQUAL(WTERMSIG(status), SIGKILL);
    /* Whoever has the other end of the pipe is gone, and said nothing. */
    CHECK_EQUAL(read(ends[0], &byte, 1), 0);
    close(ends[0]);
}

/* Of signals that it has yet to get, too. */
static void the_child_has_our_mask_and_we_keep_it(void)
{
    sigset_t mask, kept;

    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    CHECK_EQUAL(sigprocmask(SIG_BLOCK, &mask, NULL), 0);
    stopped_shell_start(&tracee, "kill -USR2 $$; exit 3");
    CHECK_EQUAL(sigprocmask(SIG_BLOCK, NULL, &kept), 0);
    CHECK(sigismember(&kept, SIGUSR2) == 1 && sigismember(&kept, SIGUSR1) == 0);
    CHECK_EQUAL(sigprocmask(SIG_UNBLOCK, &mask, NULL), 0);
    tracee_detach(&tracee);
    CHECK_EQUAL(WEXITSTATUS(stopped_shell_end(&tracee)), 3);
    stopped_shell_start(&tracee, "kill -USR2 $$; exit 3");
    tracee_detach(&tracee);
    CHECK_EQUAL(WTERMSIG(stopped_shell_end(&tracee)), SIGUSR2);
}

/* The kernel ends it within execve(): there is no room for the program. */
static void a_program_that_is_ended_before_it_begins_is_told_apart(void)
{
    char *arguments[] = {"/bin/sh", NULL};
    const struct rlimit tiny = {65536, 65536};
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        bool is_right = setrlimit(RLIMIT_AS, &tiny) == 0 && spawn_stopped(arguments, &tracee, &err) == -ESRCH &&
                        tracee.killed_by == SIGSEGV && waitpid(-1, NULL, WNOHANG) == -1;

        _exit(is_right ? 0 : 1);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

/* Somebody else kills it while we are at it: whatever notices that first. */
static void one_that_is_killed_meanwhile_is_told_apart(void)
{
    stopped_shell_start(&tracee, "exit 0");
    kill(tracee.pid, SIGKILL);
    spawn_abandon(&tracee, -ESRCH);
    CHECK_EQUAL(tracee.killed_by, SIGKILL);
    stopped_shell_start(&tracee, "exit 0");
    spawn_abandon(&tracee, -ENOMEM);
    CHECK_EQUAL(tracee.killed_by, 0);
    stopped_shell_start(&tracee, "exit 0");
    kill(tracee.pid, SIGKILL);
    CHECK_EQUAL(tracee_run_until(&tracee, TRACEE_EXEC, NULL), -ESRCH);
    spawn_abandon(&tracee, -ESRCH);
    CHECK_EQUAL(tracee.killed_by, SIGKILL);
    CHECK_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_program_that_is_let_go_runs_as_it_would),
    CHECK_CASE(programs_are_found_in_the_path),
    CHECK_CASE(what_cannot_be_executed_is_told),
    CHECK_CASE(the_path_is_gone_through_as_shells_do),
    CHECK_CASE(a_program_that_has_not_begun_ends_with_us),
    CHECK_CASE(the_child_has_our_mask_and_we_keep_it),
    CHECK_CASE(a_program_that_is_ended_before_it_begins_is_told_apart),
    CHECK_CASE(one_that_is_killed_meanwhile_is_told_apart),
};

CHECK_MAIN(cases)

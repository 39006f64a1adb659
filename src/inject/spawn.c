/* SPDX-License-Identifier: MIT */
/*
 * The child waits until it is traced, then executes the program; that stops it. It tells by a pipe that closes on exec
 * why it could not.
 */
#define _GNU_SOURCE
#include "inject/spawn.h"

#include "libgait/error.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* PF_EXITING of the kernel, in /proc/PID/stat. */
#define FLAG_EXITING 4u

/* Two pipes: the child waits for the end of the first, and writes an errno number to the second. */
struct pipes {
    int go[2];
    int failure[2];
};

static int open_pipes(struct pipes *pipes)
{
    if (pipe2(pipes->go, O_CLOEXEC) != 0)
        return -errno;
    if (pipe2(pipes->failure, O_CLOEXEC) != 0) {
        int result = -errno;

        close(pipes->go[0]);
        close(pipes->go[1]);
        return result;
    }
    return 0;
}

static void become(char *const arguments[], struct pipes *pipes)
{
    char byte;
    int code;

    close(pipes->go[1]);
    while (read(pipes->go[0], &byte, 1) == -1 && errno == EINTR)
        ;
    execvp(arguments[0], arguments);
    code = errno;
    while (write(pipes->failure[1], &code, sizeof(code)) == -1 && errno == EINTR)
        ;
    _exit(127);
}

static int explain(const char *program, int code, struct gait_error *err)
{
    switch (code) {
    case ENOENT:
        return error_set(err, code, "cannot start %s: there is no such program%s", program,
                         strchr(program, '/') == NULL ? " in PATH" : "");
    case EACCES:
        return error_set(err, code, "cannot start %s: it is not a file that may be executed", program);
    case ENOEXEC:
        return error_set(err, code, "cannot start %s: it is no program; a script needs #! in its first line", program);
    default:
        return error_set(err, code, "cannot start %s: %s", program, strerror(code));
    }
}

/* The program runs up to its first instruction, or the child ends and says why. */
static int let_begin(struct tracee *tracee, const char *program, int failure, struct gait_error *err)
{
    int status, code = 0, result = tracee_run_until(tracee, TRACEE_EXEC, &status);

    /* The system call is not over yet, and would still write its result. */
    if (result == 0)
        result = tracee_run_until(tracee, TRACEE_SYSTEM_CALL, &status);
    tracee->is_fresh = result == 0;
    if (result == 0)
        return 0;
    if (read(failure, &code, sizeof(code)) == sizeof(code))
        return explain(program, code, err);
    return error_set(err, result, "cannot start %s: it ended before its first instruction", program);
}

int spawn_stopped(char *const arguments[], struct tracee *tracee_out, struct gait_error *err)
{
    struct pipes pipes;
    pid_t child;
    int result = open_pipes(&pipes);

    *tracee_out = (struct tracee){.pid = 0};
    if (result != 0)
        return error_set(err, result, "cannot start %s: %s", arguments[0], strerror(-result));
    child = fork();
    if (child == 0)
        become(arguments, &pipes);
    result = child == -1 ? -errno : tracee_seize(tracee_out, child, child);
    close(pipes.go[0]);
    close(pipes.failure[1]);
    if (child == -1) {
        (void)error_set(err, result, "cannot start %s: no process to be had: %s", arguments[0], strerror(-result));
    } else if (result != 0) {
        spawn_abandon(tracee_out, result);
        (void)error_set(err, result,
                        "cannot trace %s: %s; is this process traced itself, or forbidden to trace (seccomp, "
                        "/proc/sys/kernel/yama/ptrace_scope)?",
                        arguments[0], strerror(-result));
    }
    close(pipes.go[1]);
    if (result == 0) {
        result = let_begin(tracee_out, arguments[0], pipes.failure[0], err);
        if (result != 0)
            spawn_abandon(tracee_out, result);
    }
    close(pipes.failure[0]);
    return result;
}

/* Whether the kernel is taking it apart: it may have no memory any more, but still be there. */
static bool is_dying(pid_t pid)
{
    char path[32], text[512];
    const char *end;
    unsigned long flags = 0;
    ssize_t size;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    size = fd == -1 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd != -1)
        close(fd);
    if (size <= 0)
        return true;
    text[size] = '\0';
    /* The name is in parentheses, and may have some itself. */
    end = strrchr(text, ')');
    return end != NULL && sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %lu", &flags) == 1 && (flags & FLAG_EXITING);
}

void spawn_abandon(struct tracee *thread, int result)
{
    bool was_dying = result == -ESRCH || is_dying(thread->pid);
    int status = 0;

    /* The number may be another one's by now. */
    if (thread->has_ended)
        return;
    kill(thread->pid, SIGKILL);
    while (waitpid(thread->pid, &status, __WALL) == thread->pid && !WIFSIGNALED(status) && !WIFEXITED(status))
        ;
    if (was_dying && WIFSIGNALED(status))
        thread->killed_by = WTERMSIG(status);
}

/* SPDX-License-Identifier: MIT */
/*
 * The child waits until it is traced, then executes the program; that stops it. Until then it runs in our memory, which
 * need not be copied for it: on a stack of its own, with a struct of its own, and without libc, whose errno is ours.
 */
#define _GNU_SOURCE
#include "inject/spawn.h"

#include "arch/clone_start.h"
#include "base/attributes.h"
#include "base/raw_syscall.h"
#include "hosted/error_text.h"
#include "inject/proc_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <paths.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* PF_EXITING of the kernel, in /proc/PID/stat. */
#define FLAG_EXITING 4u

#define STACK_BYTES  16384

struct program_spawn {
    const char *program;
    char *const *arguments;
    const char *folders; /* in which it is looked for; NULL: it is a path */
    int go[2];           /* a pipe: the child waits for its end */
    uint64_t mask;       /* of the signals that the program is to have blocked */
    int file;            /* the child's: where it has our own file open, for the agent to be mapped from; or an error */
    /* The child's answer, when it has ended. */
    int code;             /* an errno number */
    char found[PATH_MAX]; /* what it has tried last */
};

/* ---- in the child ------------------------------------------------------------------------------------------------ */

/* What sanitizers put into functions would take the child for our thread: UNSANITIZED. */

UNSANITIZED static int execute(const struct program_spawn *start)
{
    return (int)-raw_syscall(SYS_execve, (long)start->found, (long)start->arguments, (long)environ, 0, 0, 0);
}

/* Appends what fits, and returns where it ends; beyond the room for it: not all did. */
UNSANITIZED static size_t append(struct program_spawn *start, size_t at, const char *text, size_t length)
{
    for (size_t i = 0; i < length && at + i < sizeof(start->found); i++)
        start->found[at + i] = text[i];
    return at + length;
}

UNSANITIZED static size_t length_up_to(const char *text, char end)
{
    size_t length = 0;

    while (text[length] != '\0' && text[length] != end)
        length++;
    return length;
}

/* In a folder; no name at all is that of the current one. There is nothing where names end that are too long for us. */
UNSANITIZED static int execute_in(struct program_spawn *start, const char *folder, size_t length)
{
    size_t end = append(start, 0, folder, length);

    if (length != 0)
        end = append(start, end, "/", 1);
    end = append(start, end, start->program, length_up_to(start->program, '\0') + 1);
    return end > sizeof(start->found) ? ENOENT : execute(start);
}

/* As shells do: one that may not be executed is passed over, but told if there is no other. */
UNSANITIZED static int execute_in_any(struct program_spawn *start)
{
    const char *folder = start->folders;
    bool was_refused = false;

    for (;;) {
        size_t length = length_up_to(folder, ':');
        int code = execute_in(start, folder, length);

        was_refused |= code == EACCES;
        if (code != EACCES && code != ENOENT && code != ENOTDIR && code != ESTALE && code != ENODEV &&
            code != ETIMEDOUT)
            return code;
        if (folder[length] == '\0')
            return was_refused ? EACCES : ENOENT;
        folder += length + 1;
    }
}

UNSANITIZED static void become(void *context)
{
    struct program_spawn *start = context;
    char byte;

    raw_syscall(SYS_close, start->go[1], 0, 0, 0, 0, 0);
    while (raw_syscall(SYS_read, start->go[0], (long)&byte, 1, 0, 0, 0) == -EINTR)
        ;
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&start->mask, 0, sizeof(start->mask), 0, 0);
    /* Kept by the program: the agent closes it, and without an agent, or without us, no program goes on. */
    start->file = (int)raw_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/exe", O_RDONLY, 0, 0, 0);
    start->code = start->folders == NULL ? execute_in(start, "", 0) : execute_in_any(start);
}

/* ---- in our process ---------------------------------------------------------------------------------------------- */

/* With all signals blocked: our handlers are not for the child. Its pid, or an error. */
static pid_t create_child(struct program_spawn *start)
{
    static _Alignas(64) uint8_t stack[STACK_BYTES];
    const uint64_t all = UINT64_MAX;
    pid_t child;

    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&start->mask, sizeof(all), 0, 0);
    child = (pid_t)clone_start(CLONE_VM | SIGCHLD, stack + sizeof(stack), NULL, become, start);
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&start->mask, 0, sizeof(all), 0, 0);
    return child;
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
        return error_set(err, code, "cannot start %s: it is not a program; a script needs #! in its first line",
                         program);
    default:
        return error_set(err, code, "cannot start %s: %s", program, strerror(code));
    }
}

/* The program runs up to its first instruction; -ENOEXEC and others: it cannot be executed. */
static int let_begin(struct tracee *tracee, const struct program_spawn *start, struct gait_error *err)
{
    int status, result = tracee_run_until(tracee, TRACEE_EXEC, &status);

    /* The system call is not over yet, and would still write its result. */
    if (result == 0)
        result = tracee_run_until(tracee, TRACEE_SYSTEM_CALL, &status);
    tracee->is_fresh = result == 0;
    tracee->file_fd = start->file >= 0 ? start->file + 1 : 0;
    if (result == 0)
        return 0;
    spawn_abandon(tracee, result);
    if (start->code != 0)
        return explain(start->program, start->code, err);
    return error_set(err, result, "cannot start %s: it ended before its first instruction", start->program);
}

static int start_child(struct program_spawn *start, struct tracee *tracee_out, struct gait_error *err)
{
    pid_t child;
    int result;

    *tracee_out = (struct tracee){.pid = 0};
    if (pipe2(start->go, O_CLOEXEC) != 0)
        return error_set(err, errno, "cannot start %s: %s", start->program, strerror(errno));
    child = create_child(start);
    result = child < 0 ? child : tracee_seize_own(tracee_out, child);
    close(start->go[0]);
    if (child < 0) {
        (void)error_set(err, result, "cannot start %s: no process could be made: %s", start->program,
                        strerror(-result));
    } else if (result != 0) {
        spawn_abandon(tracee_out, result);
        (void)error_set(err, result,
                        "cannot trace %s: %s; is this process traced itself, or forbidden to trace (seccomp, "
                        "/proc/sys/kernel/yama/ptrace_scope)?",
                        start->program, strerror(-result));
    }
    close(start->go[1]);
    return result == 0 ? let_begin(tracee_out, start, err) : result;
}

/* What is no program but a text is the shell's, as it is when a shell starts it. */
static int start_script(struct program_spawn *start, struct tracee *tracee_out, struct gait_error *err)
{
    size_t count = 1;
    char **arguments, *path;
    int result;

    while (start->arguments[count] != NULL)
        count++;
    arguments = calloc(count + 2, sizeof(*arguments));
    path = strdup(start->found);
    if (arguments == NULL || path == NULL) {
        free(arguments);
        free(path);
        return error_set(err, ENOMEM, "cannot start %s: %s", start->program, strerror(ENOMEM));
    }
    arguments[0] = _PATH_BSHELL;
    arguments[1] = path;
    memcpy(arguments + 2, start->arguments + 1, (count - 1) * sizeof(*arguments));
    start->program = arguments[0];
    start->arguments = arguments;
    start->folders = NULL;
    start->code = 0;
    result = start_child(start, tracee_out, err);
    free(arguments);
    free(path);
    return result;
}

int spawn_stopped(char *const arguments[], struct tracee *tracee_out, struct gait_error *err)
{
    static struct program_spawn start; /* large, and one is started at a time */
    const char *folders = getenv("PATH");
    struct gait_error why;
    int result = proc_folder_check(err);

    *tracee_out = (struct tracee){.pid = 0};
    if (result != 0)
        return result;
    start.program = arguments[0];
    start.arguments = arguments;
    start.folders = folders == NULL ? _PATH_DEFPATH : folders;
    if (arguments[0][0] == '\0' || strchr(arguments[0], '/') != NULL)
        start.folders = NULL;
    start.code = 0;
    result = start_child(&start, tracee_out, &why);
    if (start.code == ENOEXEC)
        return start_script(&start, tracee_out, err);
    if (result != 0)
        *err = why;
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

/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/program_start.h"

#include "hosted/error_text.h"
#include "syscalls/program_user.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_program(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

/* Where the program is: as it is called, or in a folder of PATH. */
static int find_program(const char *name, char path_out[PATH_MAX], struct gait_error *err)
{
    const char *folders = getenv("PATH");

    if (strchr(name, '/') != NULL) {
        snprintf(path_out, PATH_MAX, "%s", name);
        if (is_program(name))
            return 0;
        return error_set(err, errno == 0 ? EACCES : errno, "cannot run '%s': %s", name,
                         errno == ENOENT   ? "there is no such file"
                         : errno == EACCES ? "it is not allowed to be executed; chmod +x may be missing"
                                           : "it is not a program");
    }
    for (folders = folders == NULL ? "/bin:/usr/bin" : folders; *folders != '\0';) {
        size_t length = strcspn(folders, ":");

        snprintf(path_out, PATH_MAX, "%.*s/%s", (int)length, length == 0 ? "." : folders, name);
        if (is_program(path_out))
            return 0;
        folders += length + (folders[length] == ':');
    }
    return error_set(err, ENOENT, "cannot run '%s': there is no such program in the folders of PATH", name);
}

/* What the child needs, found out before it is made. */
struct child {
    const struct program_setup *setup;
    char path[PATH_MAX];
    struct program_user user; /* if the setup names one */
    int go_fd;
    int failed_fd;
};

static void change_environment(const struct program_setup *setup)
{
    for (size_t i = 0; i < setup->variable_count; i++) {
        if (strchr(setup->variables[i], '=') != NULL)
            (void)putenv((char *)(uintptr_t)setup->variables[i]);
        else
            (void)unsetenv(setup->variables[i]);
    }
}

static void run_child(const struct child *child)
{
    sigset_t none;
    ssize_t got;
    char byte;
    int number;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    change_environment(child->setup);
    while ((got = read(child->go_fd, &byte, 1)) < 0 && errno == EINTR)
        continue;
    /* Who should have let it go is no more. */
    if (got != 1)
        _exit(126);
    if (child->setup->user == NULL || program_user_become(&child->user) == 0)
        execv(child->path, child->setup->program);
    number = errno;
    (void)!write(child->failed_fd, &number, sizeof(number));
    _exit(126);
}

static void leave_caller(enum program_role place)
{
    if (place == PROGRAM_IS_CALLER_OF_GROUP)
        (void)setpgid(0, 0);
    else if (place == PROGRAM_IS_CALLER_OF_SESSION)
        (void)setsid();
}

/* This process becomes the program's; who looks is its grandchild, so that it has no child that it did not make. */
static int trade_places(const struct child *child, int go_fd, int failed_fd)
{
    pid_t program = getpid(), middle = fork();

    if (middle < 0)
        return -errno;
    if (middle == 0) {
        pid_t end = fork();

        if (end != 0)
            _exit(end < 0);
        leave_caller(child->setup->place);
        return program;
    }
    close(go_fd);
    close(failed_fd);
    (void)waitpid(middle, NULL, 0);
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    run_child(child);
    return 0;
}

/* The number of the process that is to execute the program, or -errno. */
static int divide(const struct child *child, int go_fd, int failed_fd)
{
    pid_t pid;

    fflush(NULL);
    if (child->setup->place != PROGRAM_IS_CHILD)
        return trade_places(child, go_fd, failed_fd);
    pid = fork();
    if (pid < 0)
        return -errno;
    if (pid == 0) {
        close(go_fd);
        close(failed_fd);
        run_child(child);
    }
    return pid;
}

int program_start_begin(const struct program_setup *setup, struct program_start *start_out, struct gait_error *err)
{
    struct child child = {.setup = setup};
    int go[2], failed[2], pid, result = find_program(setup->program[0], child.path, err);

    if (result != 0)
        return result;
    if (setup->user != NULL && program_user_find(setup->user, &child.user) != 0)
        return error_set(err, ENOENT, "cannot run '%s' as '%s': there is no such user in /etc/passwd",
                         setup->program[0], setup->user);
    if (pipe2(go, O_CLOEXEC) != 0 || pipe2(failed, O_CLOEXEC) != 0)
        return error_set(err, errno, "cannot run '%s': no pipe could be made: %m", setup->program[0]);
    child.go_fd = go[0];
    child.failed_fd = failed[1];
    pid = divide(&child, go[1], failed[0]);
    if (pid < 0)
        return error_set(err, pid, "cannot run '%s': no process could be made: %s", setup->program[0], strerror(-pid));
    start_out->pid = pid;
    close(go[0]);
    close(failed[1]);
    start_out->go_fd = go[1];
    start_out->failed_fd = failed[0];
    return 0;
}

void program_start_go(struct program_start *start)
{
    const struct sigaction ignored = {.sa_handler = SIG_IGN};
    struct sigaction before;

    /* Where it is gone, that is seen by its end. */
    sigaction(SIGPIPE, &ignored, &before);
    (void)!write(start->go_fd, "", 1);
    sigaction(SIGPIPE, &before, NULL);
    close(start->go_fd);
    start->go_fd = -1;
}

int program_start_finish(struct program_start *start, const char *program, struct gait_error *err)
{
    int number = 0;
    ssize_t got = read(start->failed_fd, &number, sizeof(number));

    close(start->failed_fd);
    start->failed_fd = -1;
    if (got != sizeof(number))
        return 0;
    return error_set(err, number, "cannot run '%s': %s", program, strerror(number));
}

void program_start_abandon(struct program_start *start)
{
    kill(start->pid, SIGKILL);
    waitpid(start->pid, NULL, __WALL);
    if (start->go_fd >= 0)
        close(start->go_fd);
    if (start->failed_fd >= 0)
        close(start->failed_fd);
}

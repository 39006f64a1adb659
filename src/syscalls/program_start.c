/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/program_start.h"

#include "hosted/error_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void run_child(const char *path, char *const *program, int go_fd, int failed_fd)
{
    sigset_t none;
    ssize_t got;
    char byte;
    int number;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    while ((got = read(go_fd, &byte, 1)) < 0 && errno == EINTR)
        continue;
    /* Who should have let it go is no more. */
    if (got != 1)
        _exit(126);
    execv(path, program);
    number = errno;
    (void)!write(failed_fd, &number, sizeof(number));
    _exit(126);
}

int program_start_begin(char *const *program, struct program_start *start_out, struct gait_error *err)
{
    char path[PATH_MAX];
    int go[2], failed[2], result = find_program(program[0], path, err);

    if (result != 0)
        return result;
    if (pipe2(go, O_CLOEXEC) != 0 || pipe2(failed, O_CLOEXEC) != 0)
        return error_set(err, errno, "cannot run '%s': no pipe could be made: %m", program[0]);
    start_out->pid = fork();
    if (start_out->pid < 0)
        return error_set(err, errno, "cannot run '%s': no process could be made: %m", program[0]);
    if (start_out->pid == 0) {
        close(go[1]);
        close(failed[0]);
        run_child(path, program, go[0], failed[1]);
    }
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

/* SPDX-License-Identifier: MIT */
/*
 * The program is executed from a file in memory. What it writes decides about the answer, a whole line or nothing, and
 * not its status: somebody else in the process may wait for children, too. Signals for a group of processes, as a
 * terminal sends them, end it also where we block or handle them, so that nobody is kept from leaving.
 */
#define _GNU_SOURCE
#include "fetch/fetch_program.h"

#include "base/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Descriptors below are given to the program as its own. */
#define FIRST_FREE_FD 3

struct running {
    pid_t pid;
    int output;
};

/* Written by a mapping: a limit for sizes of files (ulimit -f) is not for this one. */
static int fill(int fd, size_t size_bytes)
{
    void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (memory == MAP_FAILED)
        return -errno;
    memcpy(memory, fetch_image, size_bytes);
    munmap(memory, size_bytes);
    return 0;
}

static int make_file(int *fd_out)
{
    const size_t size_bytes = (size_t)(fetch_image_end - fetch_image);
    int fd, above, result = memory_file_create("debuginfod_fetch", size_bytes, true, &fd);

    if (result != 0)
        return result;
    above = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
    result = above < 0 ? -errno : fill(above, size_bytes);
    memory_file_close(fd);
    if (result != 0 && above >= 0)
        memory_file_close(above);
    if (result == 0)
        *fd_out = above;
    return result;
}

/* The order matters where our own standard descriptors are closed: the pipe may have become one of them. */
static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, int output)
{
    sigset_t none;
    int failed = posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);

    sigemptyset(&none);
    if (failed == 0)
        failed = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (failed == 0)
        failed = posix_spawnattr_setsigmask(attributes, &none);
    if (failed == 0)
        failed = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK);
    return -failed;
}

static int spawn(int program, int output, char *const *arguments, pid_t *pid_out)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char path[32];
    int result;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return -ENOMEM;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return -ENOMEM;
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", program);
    result = prepare(&actions, &attributes, output);
    if (result == 0)
        result = -posix_spawn(pid_out, path, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return result;
}

static int start(char *const *arguments, struct running *running_out)
{
    int program = -1, ends[2], result = make_file(&program);

    if (result != 0)
        return result;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        result = -errno;
        memory_file_close(program);
        return result;
    }
    result = spawn(program, ends[1], arguments, &running_out->pid);
    close(ends[1]);
    memory_file_close(program);
    if (result != 0)
        close(ends[0]);
    else
        running_out->output = ends[0];
    return result;
}

/* The bytes that came, at most so many. */
static size_t read_all(int fd, char *text, size_t size)
{
    size_t count = 0;
    ssize_t got;

    while (count < size && ((got = read(fd, text + count, size - count)) > 0 || (got < 0 && errno == EINTR)))
        count += got > 0 ? (size_t)got : 0;
    return count;
}

static void end(const struct running *running)
{
    close(running->output);
    while (waitpid(running->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

int fetch_program_run(const char *kind, const char *id, char **path_out)
{
    const char *const arguments[] = {"debuginfod_fetch", kind, id, NULL};
    struct running running;
    char text[PATH_MAX];
    size_t count;
    int result = start((char *const *)arguments, &running);

    if (result != 0)
        return result;
    count = read_all(running.output, text, sizeof(text));
    end(&running);
    if (count == 0 || text[count - 1] != '\n')
        return -ENOENT;
    *path_out = strndup(text, count - 1);
    return *path_out == NULL ? -ENOMEM : 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A process of its own makes the folder and removes it: it waits until the other end of a pipe is closed, which the
 * kernel does when we are killed, too. It has nothing of ours open, so nobody waits for it in our place.
 */
#define _GNU_SOURCE
#include "trace/temporary_folder.h"

#include "hosted/error_text.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOLDERS_OPEN 8

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)place;
    (void)(kind == FTW_DP || kind == FTW_D || kind == FTW_DNR ? rmdir(path) : unlink(path));
    return 0;
}

static void remove_all(const char *path)
{
    (void)nftw(path, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
}

/* What is typed at the terminal, or ends all of a group, is not for the cleaner. */
static void leave_group(void)
{
    static const int ignored[] = {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGPIPE};

    (void)setsid();
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        signal(ignored[i], SIG_IGN);
}

static void wait_for_end(int fd)
{
    char byte;

    while (read(fd, &byte, 1) < 0 && errno == EINTR)
        ;
}

/* Makes the folder, whose name ends in XXXXXX, and tells what it is called by `answer`: a number, 0 or -errno, and it.
 */
static _Noreturn void clean_up(char *path, int end, int answer)
{
    size_t path_bytes = strlen(path) + 1;
    int result;

    leave_group();
    result = mkdtemp(path) == NULL ? -errno : 0;
    if (write(answer, &result, sizeof(result)) != (ssize_t)sizeof(result) ||
        write(answer, path, path_bytes) != (ssize_t)path_bytes)
        result = result == 0 ? -EPIPE : result;
    if (dup2(end, STDIN_FILENO) < 0)
        _exit(1);
    (void)close_range(STDIN_FILENO + 1, ~0u, 0);
    wait_for_end(STDIN_FILENO);
    if (result == 0 || result == -EPIPE)
        remove_all(path);
    _exit(0);
}

static bool read_whole(int fd, void *bytes, size_t size_bytes)
{
    ssize_t got;

    do
        got = read(fd, bytes, size_bytes);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)size_bytes;
}

/* The name that it was given is as long as the one before. */
static int read_answer(int fd, char *path)
{
    int result = 0;

    if (!read_whole(fd, &result, sizeof(result)))
        return -EIO;
    if (result == 0 && !read_whole(fd, path, strlen(path) + 1))
        return -EIO;
    return result;
}

static int start_with(struct temporary_folder *folder, const int ends[2], const int answer[2])
{
    folder->cleaner = fork();
    if (folder->cleaner == 0) {
        close(ends[1]);
        close(answer[0]);
        clean_up(folder->path, ends[0], answer[1]);
    }
    return folder->cleaner < 0 ? -errno : 0;
}

/* Lets the cleaner go, which then removes the folder. */
static void end_cleaner(const struct temporary_folder *folder)
{
    close(folder->end);
    while (waitpid(folder->cleaner, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* Whatever happens to us, and when: there is no folder without somebody who removes it. */
static int start_cleaner(struct temporary_folder *folder)
{
    int ends[2], answer[2], result;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    if (pipe2(answer, O_CLOEXEC) != 0) {
        result = -errno;
        close(ends[0]);
        close(ends[1]);
        return result;
    }
    result = start_with(folder, ends, answer);
    close(ends[0]);
    close(answer[1]);
    folder->end = ends[1];
    if (result != 0) {
        close(ends[1]);
    } else {
        result = read_answer(answer[0], folder->path);
        if (result != 0)
            end_cleaner(folder);
    }
    close(answer[0]);
    return result;
}

static int make(struct temporary_folder *folder)
{
    int result = start_cleaner(folder);

    if (result != 0)
        return result;
    folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (folder->fd < 0) {
        result = -errno;
        end_cleaner(folder);
    }
    return result;
}

int temporary_folder_make(struct temporary_folder **folder_out, struct gait_error *err)
{
    const char *where = getenv("TMPDIR");
    struct temporary_folder *folder = calloc(1, sizeof(*folder));
    int result;

    if (where == NULL || where[0] != '/')
        where = "/tmp";
    if (folder == NULL || asprintf(&folder->path, "%s/gait-XXXXXX", where) < 0) {
        free(folder);
        return error_set(err, ENOMEM, "no memory");
    }
    result = make(folder);
    if (result != 0) {
        (void)error_set(err, result, "cannot make a temporary folder in %s: %s; TMPDIR can name another place", where,
                        strerror(-result));
        free(folder->path);
        free(folder);
        return result;
    }
    *folder_out = folder;
    return 0;
}

void temporary_folder_remove(struct temporary_folder *folder)
{
    if (folder == NULL)
        return;
    close(folder->fd);
    end_cleaner(folder);
    free(folder->path);
    free(folder);
}

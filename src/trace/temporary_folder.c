/* SPDX-License-Identifier: MIT */
/*
 * A process of its own removes the folder: it waits until the other end of a pipe is closed, which the kernel does when
 * we are killed, too. It has nothing of ours open, so nobody waits for it in our place.
 */
#define _GNU_SOURCE
#include "trace/temporary_folder.h"

#include "libgait/error.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
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

/* Says that it is ready by closing `ready`. */
static _Noreturn void clean_up(const char *path, int end, int ready)
{
    leave_group();
    close(ready);
    if (dup2(end, STDIN_FILENO) < 0)
        _exit(1);
    (void)close_range(STDIN_FILENO + 1, ~0u, 0);
    wait_for_end(STDIN_FILENO);
    remove_all(path);
    _exit(0);
}

static int start_with(struct temporary_folder *folder, const int ends[2], const int ready[2])
{
    folder->cleaner = fork();
    if (folder->cleaner == 0) {
        close(ends[1]);
        close(ready[0]);
        clean_up(folder->path, ends[0], ready[1]);
    }
    return folder->cleaner < 0 ? -errno : 0;
}

/* What ends our group must not end the cleaner: nothing is in the folder before it has left. */
static int start_cleaner(struct temporary_folder *folder)
{
    int ends[2], ready[2], result;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    if (pipe2(ready, O_CLOEXEC) != 0) {
        result = -errno;
        close(ends[0]);
        close(ends[1]);
        return result;
    }
    result = start_with(folder, ends, ready);
    close(ends[0]);
    close(ready[1]);
    if (result == 0)
        wait_for_end(ready[0]);
    else
        close(ends[1]);
    close(ready[0]);
    folder->end = ends[1];
    return result;
}

static int make(struct temporary_folder *folder)
{
    int result;

    if (mkdtemp(folder->path) == NULL)
        return -errno;
    folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    result = folder->fd < 0 ? -errno : start_cleaner(folder);
    if (result != 0) {
        if (folder->fd >= 0)
            close(folder->fd);
        (void)rmdir(folder->path);
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
    close(folder->end);
    while (waitpid(folder->cleaner, NULL, 0) < 0 && errno == EINTR)
        ;
    free(folder->path);
    free(folder);
}

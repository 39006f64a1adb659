/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "trace/temporary_folder.h"

#include "support/check.h"
#include "support/trace_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct trace_folder place; /* where it is made */

static bool is_empty(void)
{
    return rmdir(place.path) == 0 && mkdir(place.path, 0700) == 0;
}

static void fill(const struct temporary_folder *folder)
{
    CHECK_EQUAL(mkdirat(folder->fd, "a", 0700), 0);
    CHECK_EQUAL(mkdirat(folder->fd, "a/b", 0700), 0);
    close(openat(folder->fd, "a/b/file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    CHECK_EQUAL(symlinkat("/", folder->fd, "a/link"), 0);
}

static void it_goes_with_all_that_is_in_it(void)
{
    struct temporary_folder *folder;
    struct stat status;

    trace_folder_init(&place);
    setenv("TMPDIR", place.path, 1);
    CHECK_EQUAL(temporary_folder_make(&folder, NULL), 0);
    CHECK(strncmp(folder->path, place.path, strlen(place.path)) == 0);
    CHECK(fstat(folder->fd, &status) == 0 && (status.st_mode & 0777) == 0700);
    fill(folder);
    CHECK(!is_empty());
    temporary_folder_remove(folder);
    CHECK(is_empty());
    CHECK_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
    temporary_folder_remove(NULL);
    trace_folder_deinit(&place);
}

/* Whoever has it is killed, and so is all of its group. */
static void it_goes_when_its_owner_is_killed(void)
{
    struct temporary_folder *folder;
    pid_t owner;

    trace_folder_init(&place);
    setenv("TMPDIR", place.path, 1);
    owner = fork();
    if (owner == 0) {
        (void)setpgid(0, 0);
        if (temporary_folder_make(&folder, NULL) != 0)
            _exit(1);
        fill(folder);
        kill(0, SIGTERM);
        kill(0, SIGKILL);
        _exit(1);
    }
    waitpid(owner, NULL, 0);
    for (unsigned i = 0; i < 3000 && !is_empty(); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    CHECK(is_empty());
    trace_folder_deinit(&place);
}

static void no_place_for_it_is_explained(void)
{
    struct temporary_folder *folder;
    struct gait_error err;

    setenv("TMPDIR", "/nowhere", 1);
    CHECK_EQUAL(temporary_folder_make(&folder, &err), -ENOENT);
    CHECK(strstr(err.text, "in /nowhere: No such file") != NULL);
    unsetenv("TMPDIR");
}

static const struct check_case cases[] = {
    CHECK_CASE(it_goes_with_all_that_is_in_it),
    CHECK_CASE(it_goes_when_its_owner_is_killed),
    CHECK_CASE(no_place_for_it_is_explained),
};

CHECK_MAIN(cases)

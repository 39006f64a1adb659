/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "trace/foreign_roots.h"

#include "support/check.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

static void our_own_root_is_not_foreign(void)
{
    struct foreign_roots roots = {.count = 0};

    foreign_roots_note(&roots, getpid());
    foreign_roots_note(&roots, -1);
    CHECK_EQUAL(roots.count, 0);
    foreign_roots_deinit(&roots);
}

/* Has a file where nobody else sees it, and waits. */
static void be_elsewhere(int said)
{
    int fd;

    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "/mnt", "tmpfs", 0, NULL) != 0)
        _exit(77);
    fd = open("/mnt/only_here", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (fd == -1 || write(fd, "text", 4) != 4 || close(fd) != 0 || write(said, "", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

static void files_of_a_namespace_outlive_its_processes(void)
{
    struct foreign_roots roots = {.count = 0};
    char byte, text[8] = "", *path;
    int said[2], fd;
    pid_t child;

    CHECK_EQUAL(pipe(said), 0);
    child = fork();
    if (child == 0)
        be_elsewhere(said[1]);
    close(said[1]);
    if (read(said[0], &byte, 1) != 1)
        check_skip("mount namespaces may not be made here");
    foreign_roots_note(&roots, child);
    foreign_roots_note(&roots, child);
    CHECK_EQUAL(roots.count, 1);
    kill(child, SIGKILL);
    CHECK_EQUAL(waitpid(child, NULL, 0), child);
    CHECK_EQUAL(access("/mnt/only_here", F_OK), -1);
    path = foreign_roots_path(&roots, 0, "/mnt/only_here");
    fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd != -1);
    CHECK_EQUAL(read(fd, text, sizeof(text) - 1), 4);
    CHECK_TEXT(text, "text");
    close(fd);
    free(path);
    foreign_roots_deinit(&roots);
    CHECK_EQUAL(roots.count, 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(our_own_root_is_not_foreign),
    CHECK_CASE(files_of_a_namespace_outlive_its_processes),
};

CHECK_MAIN(cases)

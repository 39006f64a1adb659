/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "inject/proc_folder.h"

#include "support/check.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIPPED 77

static void in_child(int (*look)(void))
{
    pid_t child = fork();
    int status = -1;

    if (child == 0)
        _exit(look());
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
        check_skip("namespaces may not be made here");
    CHECK_EQUAL(status, 0);
}

static void ours_is_there(void)
{
    CHECK_EQUAL(proc_folder_check(NULL), 0);
}

static int look_at_covered(void)
{
    struct gait_error err = {0};

    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "/proc", "tmpfs", 0, NULL) != 0)
        return SKIPPED;
    return proc_folder_check(&err) == -ENOENT && strstr(err.text, "covers") != NULL ? 0 : 1;
}

static int look_in_namespace(void)
{
    struct gait_error err = {0};
    int status = -1;
    pid_t child;

    if (unshare(CLONE_NEWPID) != 0)
        return SKIPPED;
    child = fork();
    if (child == 0)
        _exit(proc_folder_check(&err) == -EXDEV && strstr(err.text, "namespace") != NULL ? 0 : 1);
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

static void what_covers_it_is_told(void)
{
    in_child(look_at_covered);
}

static void that_of_another_namespace_is_told(void)
{
    in_child(look_in_namespace);
}

static const struct check_case cases[] = {
    CHECK_CASE(ours_is_there),
    CHECK_CASE(what_covers_it_is_told),
    CHECK_CASE(that_of_another_namespace_is_told),
};

CHECK_MAIN(cases)

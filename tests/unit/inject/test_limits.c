/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "inject/limits.h"

#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a child, whose limits may be changed. 0: all was as it should be. */
static void in_child(int (*look)(void))
{
    pid_t child = fork();
    int status = -1;

    if (child == 0)
        _exit(look());
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

static int set_files(rlim_t files, rlim_t hard)
{
    struct rlimit limit = {files, hard};

    return setrlimit(RLIMIT_NOFILE, &limit);
}

/* Nobody may raise a hard limit without privileges. */
static int be_nobody(void)
{
    return geteuid() == 0 ? setuid(65534) : 0;
}

static int soft_limits_are_no_hindrance(void)
{
    struct rlimit before, after;
    struct gait_error err;

    if (getrlimit(RLIMIT_NOFILE, &before) != 0 || set_files(8, before.rlim_max) != 0)
        return 1;
    if (limits_check_own(&err) != 0 || getrlimit(RLIMIT_NOFILE, &after) != 0 || after.rlim_cur != 8)
        return 2;
    limits_raise_own();
    return getrlimit(RLIMIT_NOFILE, &after) == 0 && after.rlim_cur >= before.rlim_max ? 0 : 3;
}

static int hard_limits_are_told(void)
{
    struct gait_error err = {0};

    if (be_nobody() != 0 || set_files(8, 8) != 0)
        return 1;
    return limits_check_own(&err) == -EMFILE && strstr(err.text, "only 8 files") != NULL ? 0 : 2;
}

static int too_large_files_only_fail(void)
{
    struct rlimit limit = {4096, 4096};
    char path[] = "/tmp/gait-test-XXXXXX";
    int fd = mkstemp(path);

    if (fd == -1 || unlink(path) != 0 || be_nobody() != 0 || setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 1;
    limits_raise_own();
    return ftruncate(fd, 8192) == -1 && errno == EFBIG ? 0 : 2;
}

static void limits_are_raised_as_far_as_allowed(void)
{
    in_child(soft_limits_are_no_hindrance);
    in_child(hard_limits_are_told);
    in_child(too_large_files_only_fail);
}

static void a_loan_is_taken_back(void)
{
    struct limits_loan loan;
    struct rlimit before, now;
    pid_t child = fork();

    if (child == 0)
        for (;;)
            pause();
    CHECK_EQUAL(prlimit(child, RLIMIT_NOFILE, NULL, &before), 0);
    limits_loan_begin(&loan, child);
    CHECK_EQUAL(loan.pid, 0);
    limits_loan_end(&loan);
    now = (struct rlimit){4, before.rlim_max};
    CHECK_EQUAL(prlimit(child, RLIMIT_NOFILE, &now, NULL), 0);
    limits_loan_begin(&loan, child);
    CHECK_EQUAL(prlimit(child, RLIMIT_NOFILE, NULL, &now), 0);
    CHECK(now.rlim_cur >= 32);
    limits_loan_end(&loan);
    CHECK_EQUAL(prlimit(child, RLIMIT_NOFILE, NULL, &now), 0);
    CHECK_EQUAL(now.rlim_cur, 4);
    CHECK_EQUAL(now.rlim_max, before.rlim_max);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void lacks_are_known_by_their_errors(void)
{
    CHECK(limits_is_lack(-EMFILE));
    CHECK(limits_is_lack(-EFBIG));
    CHECK(limits_is_lack(-ENOMEM));
    CHECK(!limits_is_lack(-EPERM));
    CHECK(!limits_is_lack(0));
}

static const struct check_case cases[] = {
    CHECK_CASE(limits_are_raised_as_far_as_allowed),
    CHECK_CASE(a_loan_is_taken_back),
    CHECK_CASE(lacks_are_known_by_their_errors),
};

CHECK_MAIN(cases)

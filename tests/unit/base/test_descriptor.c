/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/descriptor.h"

#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

static void set_limit(rlim_t files, rlim_t hard)
{
    struct rlimit limit = {files, hard};

    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void files_are_opened_and_closed_by_execve(void)
{
    long fd = descriptor_open("/dev/null", O_RDONLY);

    CHECK(fd >= 0);
    CHECK_EQUAL(fcntl((int)fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    close((int)fd);
    CHECK_EQUAL(descriptor_open("/nothing/here", O_RDONLY), -ENOENT);
}

static void a_limit_that_is_reached_is_put_aside(void)
{
    struct rlimit before, after;
    int last = open("/dev/null", O_RDONLY | O_CLOEXEC);
    long fd;

    CHECK_EQUAL(getrlimit(RLIMIT_NOFILE, &before), 0);
    set_limit((rlim_t)last + 1, before.rlim_max);
    CHECK_EQUAL(open("/dev/null", O_RDONLY | O_CLOEXEC), -1);
    fd = descriptor_open("/dev/null", O_RDONLY);
    CHECK(fd > last);
    CHECK_EQUAL(getrlimit(RLIMIT_NOFILE, &after), 0);
    CHECK_EQUAL(after.rlim_cur, (rlim_t)last + 1);
    CHECK_EQUAL(after.rlim_max, before.rlim_max);
    close((int)fd);
    set_limit(before.rlim_cur, before.rlim_max);
    close(last);
}

static const struct check_case cases[] = {
    CHECK_CASE(files_are_opened_and_closed_by_execve),
    CHECK_CASE(a_limit_that_is_reached_is_put_aside),
};

CHECK_MAIN(cases)

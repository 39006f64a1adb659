/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/program_user.h"

#include "support/check.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

static void users_have_groups(void)
{
    struct program_user user;

    CHECK_EQUAL(program_user_find("root", &user), 0);
    CHECK_EQUAL(user.uid == 0 && user.gid == 0 && user.group_count >= 1 && user.groups[0] == 0, 1);
    CHECK_EQUAL(program_user_find("no-such-user-here", &user), -ENOENT);
    CHECK_EQUAL(program_user_find("", &user), -ENOENT);
}

static void one_becomes_another_for_good(void)
{
    const struct program_user user = {.uid = 65534, .gid = 65534, .groups = {65534}, .group_count = 1};
    int status;

    if (getuid() != 0) {
        CHECK_EQUAL(program_user_become(&user) < 0, 1);
        return;
    }
    if (fork() == 0)
        _exit(program_user_become(&user) != 0 || getuid() != 65534 || getegid() != 65534 || setuid(0) == 0);
    CHECK_EQUAL(wait(&status) > 0 && status == 0, 1);
}

static const struct check_case cases[] = {CHECK_CASE(users_have_groups), CHECK_CASE(one_becomes_another_for_good)};

CHECK_MAIN(cases)

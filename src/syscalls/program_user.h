/* SPDX-License-Identifier: MIT */
/*
 * Who a program is to run as: a user of /etc/passwd, with the groups of /etc/group. Other places where users may be are
 * not asked: that would take libraries that fit the system's. Plain storage of the caller's.
 */
#ifndef GAIT_SYSCALLS_PROGRAM_USER_H
#define GAIT_SYSCALLS_PROGRAM_USER_H

#include "base/attributes.h"

#include <stddef.h>
#include <sys/types.h>

#define PROGRAM_USER_GROUPS_MAX 256

struct program_user {
    uid_t uid;
    gid_t gid;
    gid_t groups[PROGRAM_USER_GROUPS_MAX];
    size_t group_count;
};

/* -ENOENT: there is no such user. */
MUST_USE int program_user_find(const char *name, struct program_user *user_out);

/* This process becomes that user for good. -errno. */
MUST_USE int program_user_become(const struct program_user *user);

#endif

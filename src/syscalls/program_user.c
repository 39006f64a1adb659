/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/program_user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void add_group(struct program_user *user, gid_t gid)
{
    for (size_t i = 0; i < user->group_count; i++)
        if (user->groups[i] == gid)
            return;
    if (user->group_count < PROGRAM_USER_GROUPS_MAX)
        user->groups[user->group_count++] = gid;
}

static void add_groups(struct program_user *user, const char *name)
{
    FILE *file = fopen("/etc/group", "re");
    const struct group *group;

    add_group(user, user->gid);
    while (file != NULL && (group = fgetgrent(file)) != NULL)
        for (char **member = group->gr_mem; *member != NULL; member++)
            if (strcmp(*member, name) == 0)
                add_group(user, group->gr_gid);
    if (file != NULL)
        fclose(file);
}

int program_user_find(const char *name, struct program_user *user_out)
{
    FILE *file = fopen("/etc/passwd", "re");
    const struct passwd *entry = NULL;

    while (file != NULL && (entry = fgetpwent(file)) != NULL)
        if (strcmp(entry->pw_name, name) == 0)
            break;
    if (entry != NULL)
        *user_out = (struct program_user){.uid = entry->pw_uid, .gid = entry->pw_gid};
    if (file != NULL)
        fclose(file);
    if (entry == NULL)
        return -ENOENT;
    add_groups(user_out, name);
    return 0;
}

int program_user_become(const struct program_user *user)
{
    if (setgroups(user->group_count, user->groups) != 0 || setgid(user->gid) != 0 || setuid(user->uid) != 0)
        return -errno;
    return 0;
}

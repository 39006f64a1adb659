/* SPDX-License-Identifier: MIT */
/* Files by which calls are chosen, as strace -P has it: those that name one, or have a descriptor of one. */
#ifndef GAIT_SYSCALLS_PATH_CHOICE_H
#define GAIT_SYSCALLS_PATH_CHOICE_H

#include "base/attributes.h"
#include "syscalls/system_call_event.h"

#include <stdbool.h>

#define PATH_CHOICE_MAX 32

struct path_choice {
    char *paths[PATH_CHOICE_MAX]; /* as they were given, and as they are without links */
    size_t count;
};

/* Zeroed storage has none. -ENOMEM; -E2BIG: these are too many. */
MUST_USE int path_choice_add(struct path_choice *choice, const char *path);
void path_choice_deinit(struct path_choice *choice);

/* Whether the call, which is just being made, has to do with one of them. The process lives. */
bool path_choice_picks(const struct path_choice *choice, const struct system_call_event *event);

#endif

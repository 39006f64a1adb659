/* SPDX-License-Identifier: MIT */
/*
 * Functions of C libraries by which a process makes others and executes programs. Where nothing is followed, they are
 * hooked, so that whoever reads the ring is told in time.
 */
#ifndef GAIT_AGENT_PROCESS_HOOKS_H
#define GAIT_AGENT_PROCESS_HOOKS_H

#include "gait/hook_invocation.h"

#include <stdbool.h>
#include <stddef.h>

struct process_hook {
    const char *name;
    size_t name_length;
    gait_invocation_function enter;
    gait_invocation_function leave; /* NULL: not wanted */
    void (*found)(void);            /* told when a module has it; NULL: not wanted */
    bool is_last;                   /* it is needed until all else is gone: fronts of handlers are hidden by it */
};

/* What is to be done about a function with that name; NULL: nothing. No locks, no system calls. */
const struct process_hook *process_hook_find(const char *name, size_t name_length);

/* When the session begins, and in a child that was just forked: processes with our memory that are not us are known. */
void process_hooks_begin(void);

#endif

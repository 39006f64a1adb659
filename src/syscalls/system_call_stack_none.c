/* SPDX-License-Identifier: MIT */
/* Stands in for system_call_stack_libdw.c in builds without libdw. */
#include "syscalls/system_call_stack.h"

bool system_call_stack_is_there(void)
{
    return false;
}

void system_call_stack_put(FILE *stream, const struct system_call_event *event)
{
    (void)stream;
    (void)event;
}

void system_call_stack_forget(void)
{
}

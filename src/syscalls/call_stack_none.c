/* SPDX-License-Identifier: MIT */
/* Stands in for call_stack_libdw.c in builds without libdw. */
#include "syscalls/call_stack.h"

bool call_stack_is_there(void)
{
    return false;
}

void call_stack_put(FILE *stream, const struct system_call_event *event)
{
    (void)stream;
    (void)event;
}

void call_stack_forget(void)
{
}

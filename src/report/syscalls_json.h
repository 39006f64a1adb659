/* SPDX-License-Identifier: MIT */
/* System calls and signals as objects, one a line. One thread at a time. */
#ifndef GAIT_REPORT_SYSCALLS_JSON_H
#define GAIT_REPORT_SYSCALLS_JSON_H

#include "syscalls/system_call_text.h"

#include <stdio.h>

struct syscalls_json;

/* Stream and options stay the caller's. NULL: there is no memory. */
struct syscalls_json *syscalls_json_create(FILE *stream, const struct call_text_options *options);
void syscalls_json_destroy(struct syscalls_json *json);

/* Writes an object for a call that has ended, a signal or an end; of a call that begins its arguments are noted. */
void syscalls_json_put(struct syscalls_json *json, const struct system_call_event *event);

#endif

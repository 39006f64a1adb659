/* SPDX-License-Identifier: MIT */
/* System calls and signals as objects, one a line. One thread at a time. */
#ifndef GAIT_CLI_SYSCALLS_JSON_H
#define GAIT_CLI_SYSCALLS_JSON_H

#include "source/system_call_text.h"

#include <stdio.h>

/* Writes an object for a call that has ended, a signal or an end; nothing for other events. */
void syscalls_json_put(FILE *stream, const struct system_call_event *event, const struct call_text_options *options);

#endif

/* SPDX-License-Identifier: MIT */
/* The fields of the kernel's events as JSON. Stateless; callable from any thread. */
#ifndef GAIT_TRACE_KERNEL_EVENT_JSON_H
#define GAIT_TRACE_KERNEL_EVENT_JSON_H

#include "hosted/json_text.h"
#include "trace/kernel_events.h"

#include <stdio.h>

/* Writes {"prev_pid": 12, "prev_comm": "bash"}: numbers where they are numbers, null for what is not there, else texts.
 */
void kernel_event_put_json(FILE *stream, const struct kernel_source *source, const struct kernel_event *event,
                           enum json_escape escape);

#endif

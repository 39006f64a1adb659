/* SPDX-License-Identifier: MIT */
/*
 * Which events are shown, of those that a source reports: calls by how they ended, signals by their numbers. Plain
 * values.
 */
#ifndef GAIT_SYSCALLS_OUTPUT_SYSTEM_CALL_FILTER_H
#define GAIT_SYSCALLS_OUTPUT_SYSTEM_CALL_FILTER_H

#include "syscalls/system_call_event.h"

#include <stdbool.h>

enum system_call_status {
    SYSTEM_CALL_STATUS_SUCCESSFUL = 1,
    SYSTEM_CALL_STATUS_FAILED = 2,
    SYSTEM_CALL_STATUS_UNFINISHED = 4,  /* it did not return */
    SYSTEM_CALL_STATUS_UNAVAILABLE = 8, /* nobody knows what it returned: there is no such call here */
    SYSTEM_CALL_STATUS_DETACHED = 16,   /* nobody looked any more when it returned */
    SYSTEM_CALL_STATUS_ALL = 31,
};

struct system_call_filter {
    unsigned hidden_statuses; /* enum system_call_status */
    uint64_t hidden_signals;  /* bit n - 1: signal n */
};

/* Whether the event is shown. Of a call that has only begun nobody knows. */
bool system_call_filter_shows(const struct system_call_filter *filter, const struct system_call_event *event);

#endif

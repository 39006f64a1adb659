/* SPDX-License-Identifier: MIT */
#include "syscalls/output/system_call_filter.h"

#include <sys/wait.h>

#define ERRORS 4095

static unsigned status_of(const struct system_call_event *event)
{
    if ((event->flags & SYSTEM_CALL_NEVER_RETURNS) != 0)
        return SYSTEM_CALL_STATUS_UNFINISHED;
    return event->result < 0 && event->result >= -ERRORS ? SYSTEM_CALL_STATUS_FAILED : SYSTEM_CALL_STATUS_SUCCESSFUL;
}

static bool shows_signal(const struct system_call_filter *filter, int signal)
{
    return signal < 1 || signal > 64 || (filter->hidden_signals >> (signal - 1) & 1) == 0;
}

bool system_call_filter_shows(const struct system_call_filter *filter, const struct system_call_event *event)
{
    if (event->kind == SYSTEM_CALL_LEFT)
        return (filter->hidden_statuses & status_of(event)) == 0;
    if (event->kind == SYSTEM_CALL_SIGNALLED || event->kind == SYSTEM_CALL_STOPPED)
        return shows_signal(filter, event->signal);
    if (event->kind == SYSTEM_CALL_EXITED && WIFSIGNALED(event->status))
        return shows_signal(filter, WTERMSIG(event->status));
    return true;
}

/* SPDX-License-Identifier: MIT */
/* Each call takes the next places for its events, and fills them. */
#include "support/event_log.h"

#include <stdatomic.h>

int event_log_process(void *log, const struct gait_event *events, size_t count)
{
    struct event_log *self = log;
    size_t at = atomic_fetch_add_explicit(&self->count, count, memory_order_relaxed);

    for (size_t i = 0; i < count && at + i < EVENT_LOG_ROOM; i++)
        self->events[at + i] = events[i];
    return 0;
}

void event_log_clear(struct event_log *log)
{
    atomic_store_explicit(&log->count, 0, memory_order_relaxed);
}

static size_t kept(const struct event_log *log)
{
    size_t count = atomic_load_explicit(&log->count, memory_order_relaxed);

    return count < EVENT_LOG_ROOM ? count : EVENT_LOG_ROOM;
}

size_t event_log_count_in(const struct event_log *log, uint64_t start, uint64_t end)
{
    size_t found = 0;

    for (size_t i = 0; i < kept(log); i++)
        found += log->events[i].location >= start && log->events[i].location < end;
    return found;
}

bool event_log_is_of(const struct event_log *log, int tid)
{
    for (size_t i = 0; i < kept(log); i++)
        if (log->events[i].tid != (uint32_t)tid)
            return false;
    return true;
}

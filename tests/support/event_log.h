/* SPDX-License-Identifier: MIT */
/*
 * A sink that keeps events for a test to look at, from any number of threads. What it does on followed threads takes no
 * lock and calls nobody; events beyond its room are counted only.
 */
#ifndef GAIT_TESTS_EVENT_LOG_H
#define GAIT_TESTS_EVENT_LOG_H

#include "gait/stalker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_LOG_ROOM (1u << 19)

struct event_log {
    _Atomic size_t count; /* of all events, kept or not */
    struct gait_event events[EVENT_LOG_ROOM];
};

/* A sink whose context is an event_log. */
int event_log_process(void *log, const struct gait_event *events, size_t count);

/* Forgets all events. No thread may be adding some. */
void event_log_clear(struct event_log *log);

/* How many of those that were kept have a location in [start, end). */
size_t event_log_count_in(const struct event_log *log, uint64_t start, uint64_t end);

/* Whether all that were kept are of that thread. */
bool event_log_is_of(const struct event_log *log, int tid);

#endif

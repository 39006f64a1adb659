/* SPDX-License-Identifier: MIT */
/* What the kinds of events are called in manifests and reports. Callable from any thread. */
#ifndef GAIT_TRACE_EVENT_NAMES_H
#define GAIT_TRACE_EVENT_NAMES_H

#include <stdint.h>

#define EVENT_NAME_COUNT 10

/* Of the bit with that number in enum gait_event_kind, below EVENT_NAME_COUNT. */
const char *event_name(unsigned bit);

/* The kind with that name; 0: there is none. */
uint32_t event_kind_by_name(const char *name);

#endif

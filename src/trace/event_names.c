/* SPDX-License-Identifier: MIT */
#include "trace/event_names.h"

#include <string.h>

/* In the order of the bits of enum gait_event_kind. */
static const char *const names[EVENT_NAME_COUNT] = {"call",  "ret",   "exec",    "block",  "compile",
                                                    "enter", "leave", "suspend", "resume", "goroutine"};

const char *event_name(unsigned bit)
{
    return names[bit];
}

uint32_t event_kind_by_name(const char *name)
{
    for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
        if (strcmp(names[bit], name) == 0)
            return 1u << bit;
    return 0;
}

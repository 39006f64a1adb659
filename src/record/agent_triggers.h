/* SPDX-License-Identifier: MIT */
/* Triggers that a process's own threads saw: out of its ring, to the flight recorder. One thread at a time. */
#ifndef GAIT_RECORD_AGENT_TRIGGERS_H
#define GAIT_RECORD_AGENT_TRIGGERS_H

#include "base/attributes.h"
#include "ring/trigger_log.h"

#include <stddef.h>
#include <stdint.h>

struct flight;
struct ring_reader;
struct trigger_spec;

/* What the user asked for: the numbers of triggers are places in it. */
struct trigger_list {
    const struct trigger_spec *specs;
    size_t count;
};

/* All zero: before the first look. */
struct agent_triggers {
    struct trigger_log_place place;
    uint64_t looked_time; /* the counter, at the last look */
};

/* Hands over what is new. Nothing that the process writes is trusted. Errors as flight_trigger. */
MUST_USE int agent_triggers_take(struct agent_triggers *triggers, const struct ring_reader *ring,
                                 const struct trigger_list *list, struct flight *flight, uint32_t pid);

#endif

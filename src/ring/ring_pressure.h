/* SPDX-License-Identifier: MIT */
/*
 * How the lanes of a ring get on, from the side that reads: how full they are, and what their threads do when there is
 * no room. Words change while they are looked at, and may be anything: what is handed out is within bounds.
 */
#ifndef GAIT_RING_RING_PRESSURE_H
#define GAIT_RING_RING_PRESSURE_H

#include "ring/ring_layout.h"
#include "ring/ring_reader.h"

#include <stdbool.h>
#include <stdint.h>

/* A lane that a thread has. */
struct ring_lane_status {
    uint32_t tid;
    enum ring_lane_kind kind;
    enum ring_pressure pressure;
    enum ring_drop_reason drop_reason; /* of what is dropped now */
    uint64_t used_bytes;               /* what was not read yet, in whole buffers */
    uint64_t capacity_bytes;
    uint64_t lost_bytes;
    uint64_t wait_count;
    uint64_t waited_ns;
    uint64_t drop_count; /* how often it began to drop */
    char name[RING_NAME_BYTES];
};

/* How many lanes were ever used. */
uint32_t ring_pressure_lanes(const struct ring_reader *reader);

/* How one of them gets on. False: no thread has it, it is free. */
bool ring_pressure_look(const struct ring_reader *reader, uint32_t lane, struct ring_lane_status *status_out);

/* What a state and a reason are called. */
const char *ring_pressure_name(enum ring_pressure pressure);
const char *ring_drop_reason_name(enum ring_drop_reason reason);

#endif

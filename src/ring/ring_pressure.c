/* SPDX-License-Identifier: MIT */
#include "ring/ring_pressure.h"

#include <stdatomic.h>

uint32_t ring_pressure_lanes(const struct ring_reader *reader)
{
    const struct ring_header *header = (const struct ring_header *)(const void *)reader->base;
    uint32_t count = atomic_load_explicit(&header->lane_count, memory_order_acquire);

    return count < reader->header.lane_limit ? count : reader->header.lane_limit;
}

static uint64_t used_bytes(const struct ring_reader *reader, const struct ring_lane *lane)
{
    uint64_t full = atomic_load_explicit(&lane->full, memory_order_relaxed);
    uint64_t consumed = atomic_load_explicit(&lane->consumed, memory_order_relaxed);
    uint64_t count = full > consumed ? full - consumed : 0;

    if (count > reader->header.buffer_count)
        count = reader->header.buffer_count;
    return count * reader->header.buffer_bytes;
}

static uint64_t drop_count(const struct ring_lane *lane)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < RING_DROP_REASONS; i++)
        count += atomic_load_explicit(&lane->drop_counts[i], memory_order_relaxed);
    return count;
}

bool ring_pressure_look(const struct ring_reader *reader, uint32_t lane, struct ring_lane_status *status_out)
{
    const struct ring_lane *shared =
        (const struct ring_lane *)(const void *)(reader->base + ring_lane_start(lane, reader->header.buffer_count) +
                                                 RING_LANE_OFFSET);
    uint32_t pressure, reason, kind;

    if (lane >= reader->header.lane_limit ||
        atomic_load_explicit(&shared->state, memory_order_acquire) != RING_LANE_OPEN)
        return false;
    pressure = atomic_load_explicit(&shared->pressure, memory_order_relaxed);
    reason = atomic_load_explicit(&shared->drop_reason, memory_order_relaxed);
    kind = shared->kind;
    *status_out = (struct ring_lane_status){
        .tid = atomic_load_explicit(&shared->tid, memory_order_relaxed),
        .kind = kind < RING_LANE_KINDS ? (enum ring_lane_kind)kind : RING_LANE_INDEX,
        .pressure = pressure < RING_PRESSURES ? (enum ring_pressure)pressure : RING_FILLING,
        .drop_reason = reason < RING_DROP_REASONS ? (enum ring_drop_reason)reason : RING_DROP_NONE,
        .used_bytes = used_bytes(reader, shared),
        .capacity_bytes = (uint64_t)reader->header.buffer_count * reader->header.buffer_bytes,
        .lost_bytes = atomic_load_explicit(&shared->lost_bytes, memory_order_relaxed),
        .wait_count = atomic_load_explicit(&shared->wait_count, memory_order_relaxed),
        .waited_ns = atomic_load_explicit(&shared->waited_ns, memory_order_relaxed),
        .drop_count = drop_count(shared),
    };
    ring_reader_name(reader, lane, atomic_load_explicit(&shared->generation, memory_order_acquire), status_out->name);
    return true;
}

const char *ring_pressure_name(enum ring_pressure pressure)
{
    static const char *const names[] = {
        [RING_FILLING] = "filling",
        [RING_WAITING] = "waiting",
        [RING_DROPPING] = "dropping",
    };

    return pressure < RING_PRESSURES ? names[pressure] : "?";
}

const char *ring_drop_reason_name(enum ring_drop_reason reason)
{
    static const char *const names[] = {
        [RING_DROP_NONE] = "",     [RING_DROP_FULL] = "full",       [RING_DROP_SILENT] = "silent",
        [RING_DROP_DEAD] = "dead", [RING_DROP_LEAVING] = "leaving",
    };

    return reason < RING_DROP_REASONS ? names[reason] : "?";
}

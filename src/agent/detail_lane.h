/* SPDX-License-Identifier: MIT */
/*
 * A thread's detail lane (ring/detail_record.h): made when the first call that is looked at closely happens. Belongs to
 * that thread. Signal handlers may write into it while a record is being written.
 */
#ifndef GAIT_AGENT_DETAIL_LANE_H
#define GAIT_AGENT_DETAIL_LANE_H

#include "ring/detail_record.h"

#include <stdbool.h>
#include <stdint.h>

struct ring_region;
struct ring_writer;

/* The thread that a lane is of. */
struct detail_owner {
    uint32_t tid;
    uint32_t serial;                 /* of its index lane; 0: it has none */
    const _Atomic uint32_t *give_up; /* not 0: it does not wait for room; stays as long as the lane does */
};

/* A place in a lane that is taken, for a record that is being written. */
struct detail_place {
    uint8_t *bytes; /* NULL: there is no room, the record is lost */
    uint32_t size_bytes;
};

/* All zero: none yet. */
struct detail_lane {
    struct ring_writer *writer;
    const _Atomic uint32_t *give_up;
    _Atomic uint64_t position;
    bool has_failed;             /* there is no memory for it */
    uint64_t checked_page;       /* of the stack, that can be read; 0: none yet */
    _Atomic uint32_t nesting;    /* how many records are being written, by signal handlers within each other */
    uint64_t outer_sp;           /* of the outermost */
    struct detail_place outer;   /* and its place */
    _Atomic uint64_t lost_bytes; /* of records for which there was no room */
};

/* Makes it for the thread, if there is none. False: it cannot be had. */
bool detail_lane_open(struct detail_lane *lane, struct ring_region *ring, const struct detail_owner *owner);

/* The thread writes no more. */
void detail_lane_close(struct detail_lane *lane);

/* In a child that was just forked: the lane is the parent's. */
void detail_lane_forget(struct detail_lane *lane);

/*
 * A call that just entered a function; record.kind and size_bytes are filled in here, and so is what concerns values.
 * Copies stack_bytes of the stack, or as many as values leave room for.
 */
void detail_lane_enter(struct detail_lane *lane, const struct detail_enter *enter, struct detail_values values);

/* The same for one that ended. */
void detail_lane_leave(struct detail_lane *lane, const struct detail_leave *leave, struct detail_values values);

/* Who called it: frame_count addresses. */
void detail_lane_stack(struct detail_lane *lane, const struct detail_stack *stack, const uint64_t *addresses);

/*
 * Takes room for a record of that kind, with so many bytes behind `fixed_bytes`, of which values_at says how many; all
 * of it is zero but for that. A handler that comes now writes behind it.
 */
struct detail_place detail_lane_take(struct detail_lane *lane, uint16_t kind, uint32_t fixed_bytes, uint32_t values_at,
                                     uint32_t values_bytes);

/*
 * The record is complete, with so many bytes of values: as many as were taken or fewer. Where something follows it
 * already it keeps its size, and what is left are values that are passed over.
 */
void detail_lane_put(struct detail_lane *lane, struct detail_place place, uint32_t fixed_bytes, uint32_t values_at,
                     uint32_t values_bytes);

/* Whether a word of the thread's stack can be read. Cheap while it stays in a page. */
bool detail_lane_can_read(struct detail_lane *lane, uint64_t sp);

#endif
